"""Brings several outcomes of one version in one micro-batch down to the one that counts."""

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import versions_of
from state.resolve import Coordinates
from state.row import PUBLISHED_OFFSET, STATUS, Status


def one_per_version(outcomes: pa.Table) -> pa.Table:
    """Keep of each version the outcome that a store would end with, taking them in order."""
    named = [version[:3] for _, version in versions_of(outcomes)]
    if len(set(named)) == len(named):
        return outcomes
    statuses = outcomes.column(STATUS).to_pylist()
    unsure = pc.is_null(outcomes.column(PUBLISHED_OFFSET)).to_pylist()
    kept: dict[Coordinates, int] = {}
    for i, version in enumerate(named):
        before = kept.setdefault(version, i)
        if statuses[before] == Status.PENDING or _corrects(statuses, unsure, before, i):
            kept[version] = i
    return outcomes.take(pa.array(sorted(kept.values()), pa.int64()))


def _corrects(statuses: list[str], unsure: list[bool], before: int, after: int) -> bool:
    return statuses[before] == Status.DONE and unsure[before] and statuses[after] != Status.DONE
