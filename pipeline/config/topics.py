"""Says which topic names and patterns Kafka can have."""

import re

_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_PATTERN = re.compile(r"[a-zA-Z0-9._*?-]{1,249}")


def checked_topic(name: str) -> str:
    """Return ``name``, or raise ValueError with a sentence when no topic can be named so."""
    if name in (".", "..") or not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no topic name; use up to 249 letters, digits, dots, dashes, underscores"
        )
    return name


def checked_pattern(pattern: str) -> str:
    """Return ``pattern``, or raise ValueError with a sentence when it can match no topic."""
    if not _PATTERN.fullmatch(pattern):
        raise ValueError(
            f"{pattern!r} is no pattern of topic names; write a name, with * and ? as wildcards"
        )
    return pattern
