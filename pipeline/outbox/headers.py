"""Headers of records, as lists of names and values: a name may stand there more than once."""

from collections.abc import Collection

Headers = list[tuple[str, str | bytes | None]]


def without(headers: Headers | None, names: Collection[str]) -> Headers:
    """Return the headers but for those with one of ``names``."""
    return [header for header in headers or () if header[0] not in names]


def replaced(headers: Headers | None, by: Headers) -> Headers:
    """Return the headers with those in ``by`` added; of a name that is there already they count."""
    return [*without(headers, {name for name, _ in by}), *by] if headers else list(by)


def content_type_of(headers: Headers | None) -> str | None:
    """Return what the headers say the value is, if it is text."""
    for name, value in headers or ():
        if name.lower() == CONTENT_TYPE and value is not None:
            return value if isinstance(value, str) else _text(value)
    return None


def _text(value: bytes) -> str | None:
    try:
        return value.decode() or None
    except UnicodeDecodeError:
        return None


CONTENT_TYPE = "content-type"
