"""What can be said of messages once all are there: lost, twice, late by how much."""

from collections.abc import Sequence

import numpy as np

from bench.events import Ints

QUANTILES = (50, 95, 99, 99.9)
Span = tuple[float, float]


def faults(expected: Sequence[tuple[int, int]], numbers: Ints) -> dict[str, int]:
    """Count numbers of the ``expected`` ranges that did not come or came again, and others."""
    different, times = np.unique(numbers, return_counts=True)
    wanted = np.zeros(len(different), bool)
    for first, count in expected:
        wanted |= (different >= first) & (different < first + count)
    return {
        "lost": sum(count for _, count in expected) - int(wanted.sum()),
        "twice": int((times[wanted] - 1).sum()),
        "unwanted": int((~wanted).sum()),
    }


def lateness(late: Ints) -> dict[str, float]:
    """Return quantiles in milliseconds, and the most."""
    named = {f"p{q}": _rounded(late, q) for q in QUANTILES}
    return named | {"max": float(late.max())}


def during(late: Ints, appended: Ints) -> list[tuple[int, float, float]]:
    """Return p50 and p99 of what was published in each second of the run."""
    seconds = (appended - appended.min()) // 1000
    order = np.argsort(seconds, kind="stable")
    seconds, late = seconds[order], late[order]
    places, starts = np.unique(seconds, return_index=True)
    parts = np.split(late, starts[1:])
    return [
        (int(second), _rounded(part, 50), _rounded(part, 99))
        for second, part in zip(places, parts, strict=True)
    ]


def by_fold(due: Ints, appended: Ints, folds: Sequence[Span]) -> dict[str, dict[str, float]]:
    """Part what fell due while a fold was at work (``folds``: seconds) from the rest."""
    inside = np.zeros(len(due), bool)
    for begun, ended in folds:
        inside |= (due >= begun * 1000) & (due <= ended * 1000)
    late = appended - due
    parts = {"during_fold": late[inside], "without_fold": late[~inside]}
    return {
        name: lateness(part) | {"messages": len(part)} for name, part in parts.items() if len(part)
    }


def _rounded(late: Ints, quantile: float) -> float:
    return round(float(np.percentile(late, quantile)), 1)
