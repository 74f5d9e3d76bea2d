"""Says which input topics share their keys, so that a key is one schedule on all of them."""

from pipeline.admin.problems import Problem
from pipeline.config.settings import Settings


def namespace_of(settings: Settings, source: str) -> str:
    """Return the name that an input topic shares its keys under: its own, unless one is set."""
    for each in settings.sources:
        if each.topic == source:
            return each.namespace or each.topic
    return source


def meant(settings: Settings, found: set[str], default: str | None) -> str | None:
    """Return the namespace that is meant where no source was named, None where nothing is found.

    ``found`` are the input topics that know a key. The default topic's counts if it knows the key,
    else the only other one; a Problem if there are several.
    """
    names = {namespace_of(settings, source) for source in found}
    preferred = None if default is None else namespace_of(settings, default)
    if preferred in names or len(names) <= 1:
        return preferred if preferred in names else next(iter(names), None)
    raise Problem(
        409,
        "ambiguous_source",
        f"source: several input topics know this key ({', '.join(sorted(found))}); name one",
    )
