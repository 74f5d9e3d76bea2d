"""Finds the right name nearest to a wrong one."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(wrong: str, right: Iterable[str]) -> str:
    """Say which of ``right`` was most likely meant, or which there are when none is near."""
    names = sorted(right)
    near = get_close_matches(wrong, names, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    return f"there are {', '.join(names)}" if len(names) <= 12 else "see docs/configuration.md"
