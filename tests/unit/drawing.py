"""Draws many examples at once, so that one Spark job can take them all."""

from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

Example = TypeVar("Example")

_ALL_AT_ONCE = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def drawn(examples: st.SearchStrategy[Example], count: int) -> list[Example]:
    """Return up to ``count`` examples, fewer if there are not as many that differ."""
    found: list[Example] = []

    @settings(_ALL_AT_ONCE, max_examples=count)
    @given(examples)
    def take(example: Example) -> None:
        found.append(example)

    take()
    return found
