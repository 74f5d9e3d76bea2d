"""The clock as the pipeline uses it, and how far ahead of it a message may be due."""

from state.clock import DAY, exact_text, instant_text, now_micros

__all__ = ["FARTHEST", "exact_text", "instant_text", "now_micros"]

# How far ahead a message may be due, in microseconds: about 100 years. What lies further ahead was
# almost surely meant in another unit.
FARTHEST = 36_525 * DAY
