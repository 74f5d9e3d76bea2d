"""Says which of the outcomes of a micro-batch count, and how."""

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import coordinates_of, versions_of
from state.row import ATTEMPT, PUBLISHED_OFFSET, STATUS, Status
from state.version import Coordinates, Version, is_newer

AttemptOf = Callable[[bytes, Coordinates], int]
Newest = Callable[[Sequence[tuple[bytes, Version]]], list[Version | None]]


def one_per_version(outcomes: pa.Table) -> pa.Table:
    """Keep of each version the outcome that a store would end with, taking them in order."""
    named = coordinates_of(outcomes)
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


def overtaken(outcomes: pa.Table, newest: Newest) -> pa.Table:
    """Let what would be put back be replaced where a newer command came meanwhile.

    ``newest`` returns the newest version known of each identity it is given.
    """
    statuses = outcomes.column(STATUS).to_pylist()
    back = [i for i, status in enumerate(statuses) if status == Status.PENDING]
    if not back:
        return outcomes
    named = versions_of(outcomes.take(pa.array(back, pa.int64())))
    for i, (_, version), found in zip(back, named, newest(named), strict=True):
        if found is not None and is_newer(found, version):
            statuses[i] = Status.REPLACED.value
    at = outcomes.schema.get_field_index(STATUS)
    return outcomes.set_column(at, STATUS, pa.array(statuses, pa.string()))


def without_known_attempts(outcomes: pa.Table, attempt_of: AttemptOf) -> pa.Table:
    """Leave out what speaks of an attempt that its row knows of already.

    ``attempt_of`` returns the attempts that the row of a version knows of.
    """
    said = outcomes.column(ATTEMPT).to_pylist()
    if not any(said):
        return outcomes
    named = versions_of(outcomes)
    fresh = [
        attempt is None or attempt > attempt_of(identity, version.coordinates)
        for attempt, (identity, version) in zip(said, named, strict=True)
    ]
    return outcomes.filter(pa.array(fresh))


def attempts_in(row: pa.Table | None) -> int:
    """Return how many attempts a row knows of; none where there is no row."""
    return 0 if row is None or row.num_rows == 0 else row.column(ATTEMPT)[0].as_py() or 0
