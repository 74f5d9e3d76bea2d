"""Checks where a source is a drop-in for another scheduler, and which topics keep its history."""

from collections.abc import Iterator

from pipeline.config.problems import Problem
from pipeline.config.settings import Settings

_LEAVES_NO_MARKS = ("cloudevents", "cloudevents-mongo")
_KEEPS_HISTORY = "etf1"


def drop_ins(settings: Settings) -> Iterator[Problem]:
    """Yield where a source is asked for what the scheduler of its dialect does not do."""
    for number, source in enumerate(settings.sources):
        path, dialect = f"sources[{number}]", source.dialect
        if source.drop_in and dialect in _LEAVES_NO_MARKS:
            yield Problem(
                f"{path}.drop_in",
                f"is of no use with {path}.dialect {dialect}, which knows no mark of what is sent; "
                "leave it out",
            )
        if source.history_topic is None:
            continue
        if dialect != _KEEPS_HISTORY:
            yield Problem(
                f"{path}.history_topic",
                f"is of no use with {path}.dialect {dialect}; only {_KEEPS_HISTORY} has one",
            )
        elif not source.drop_in:
            yield Problem(
                f"{path}.history_topic",
                f"is of no use without {path}.drop_in; set that to true, or leave this out",
            )
    for number, rule in enumerate(settings.withdraw):
        if rule.topic in settings.history_topics:
            yield Problem(
                f"withdraw[{number}].topic",
                f"{rule.topic} is also one of sources[].history_topic, which the job itself writes",
            )


def histories(settings: Settings) -> list[tuple[str, str]]:
    """Return the topics that keep a history, each once, with the setting that names it first."""
    first: dict[str, str] = {}
    for number, source in enumerate(settings.sources):
        if source.history_topic is not None:
            first.setdefault(source.history_topic, f"sources[{number}].history_topic")
    return [(path, topic) for topic, path in first.items()]
