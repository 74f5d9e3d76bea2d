"""What an event wants to happen to a pending one of the same key."""

from dataclasses import dataclass
from enum import StrEnum


class SamePolicy(StrEnum):
    """The policies by name."""

    REPLACE = "replace"  # the new one stands
    KEEP = "keep"  # the pending one stands
    IGNORE_DUPLICATE = "ignoreduplicate"  # the pending one stands if the new one is equal
    IGNORE_SMALL_CHANGE = "ignoresmallchange"  # ... if the new number is near the pending one's
    SETTLE = "settle"  # the new one stands, and waits until none has come for a while
    DEBOUNCE = "debounce"  # settle without a longest wait
    THROTTLE = "throttle"  # the new one stands, and goes when the first of them would have gone


COMPARING = frozenset({SamePolicy.IGNORE_DUPLICATE, SamePolicy.IGNORE_SMALL_CHANGE})
SETTLING = frozenset({SamePolicy.SETTLE, SamePolicy.DEBOUNCE, SamePolicy.THROTTLE})


@dataclass(frozen=True, slots=True)
class SameKey:
    """A policy and what it needs to know; spans in microseconds.

    ``min_deviation`` is as it was written: a number (``0.5``), or a part of the old one (``5%``).
    """

    policy: SamePolicy = SamePolicy.REPLACE
    compare_field: str | None = None
    min_deviation: str | None = None
    settle_for: int | None = None
    settle_max: int | None = None
