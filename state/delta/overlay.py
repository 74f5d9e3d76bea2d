"""Works out the versions that the changelog's tail has changed, and gives them as full rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from state.columns import reshape
from state.delta.few import files_with, no_files, read_few
from state.delta.layout import BUCKET
from state.delta.snapshot import Snapshot, is_live_row
from state.delta.tables import read
from state.delta.versions import Versions
from state.fields import bytes_in
from state.lines import LINE, SEQ, light_lines
from state.resolve import Counts, Known, Line, resolve
from state.row import (
    BATCH,
    CHANGED_AT,
    CLAIM,
    DUE,
    IDENTITY,
    KEPT,
    KIND,
    OCCURRENCE,
    OUTCOME_FIELDS,
    ROW,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    STATUS,
    Status,
)
from state.version import Coordinates

COORDINATES = [SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, OCCURRENCE]
_BASE = [IDENTITY, *COORDINATES, KIND, STATUS, DUE, CLAIM, SEQ, BATCH, CHANGED_AT, BUCKET]
_STATUSES = {status.value: status for status in Status}
ROW_SEQ = pa.schema([*ROW, pa.field(SEQ, pa.int64())])


@dataclass(frozen=True)
class Overlay:
    """The versions of all identities in a tail; ``base`` is what ``schedules`` held of them."""

    snapshot: Snapshot
    holding: ds.Dataset  # the files of ``schedules`` that hold some of them
    base: pa.Table
    known: dict[bytes, dict[Coordinates, Known]]
    counts: Counts  # totals since the beginning, the tail included

    def __iter__(self) -> Iterator[Known]:
        return (known for versions in self.known.values() for known in versions.values())

    @cached_property
    def base_names(self) -> set[Coordinates]:
        """The versions that ``schedules`` holds."""
        columns = [self.base.column(name).to_pylist() for name in COORDINATES]
        return set(zip(*columns, strict=True))

    @cached_property
    def _contents(self) -> pa.Table:
        return pa.concat_tables([self._tail_rows, reshape(self._base_rows(), ROW_SEQ)])

    @cached_property
    def _tail_rows(self) -> pa.Table:
        snapshot = self.snapshot
        tail = read(snapshot.changelog, [*ROW.names, SEQ, LINE], pc.field(SEQ) > snapshot.mark.seq)
        tail = tail.sort_by(LINE).slice(0, snapshot.tail.num_rows)
        return reshape(tail, ROW_SEQ)

    def _base_rows(self) -> pa.Table:
        """Return the rows of ``base`` whole, in the same order."""
        if self.base.num_rows == 0:
            return ROW_SEQ.empty_table()
        offsets = pc.unique(self.base.column(SOURCE_OFFSET))
        named = bytes_in(IDENTITY, pc.unique(self.base.column(IDENTITY)))
        where = is_live_row() & pc.field(SOURCE_OFFSET).isin(offsets) & named
        return _in_order(read_few(self.holding, ROW_SEQ.names, where))

    def rows(self, versions: Iterable[Known]) -> pa.Table:
        """Return full rows, with the number of the commit that last changed each."""
        chosen = list(versions)
        if not chosen:
            return ROW_SEQ.empty_table()
        # What is in the base may be anywhere among all that is pending: a start needs none of it.
        own = self.snapshot.tail.num_rows
        told = all(v.content < own and (v.outcome or 0) < own for v in chosen)
        return materialize(chosen, self._tail_rows if told else self._contents)


def overlay(snapshot: Snapshot) -> Overlay:
    """Work out what the tail has changed."""
    touched = snapshot.touched
    where = is_live_row() & bytes_in(IDENTITY, touched)
    schedules = snapshot.schedules
    holding = files_with(schedules, where) if len(touched) else no_files(schedules)
    base = _in_order(read(holding, _BASE, where))
    known: defaultdict[bytes, dict[Coordinates, Known]] = defaultdict(dict)
    for identity, version in base_versions(base, snapshot.tail.num_rows):
        known[identity][version.coordinates] = version
    lines: defaultdict[bytes, list[Line]] = defaultdict(list)
    for identity, line in light_lines(snapshot.tail):
        lines[identity].append(line)
    counts = snapshot.mark.counts.copy()
    for identity, of_identity in lines.items():
        resolve(known[identity], of_identity, counts)
    return Overlay(snapshot, holding, base, known, counts)


def materialize(
    versions: Sequence[Known], contents: pa.Table, schema: pa.Schema = ROW_SEQ
) -> pa.Table:
    """Return the rows of versions whose references point into ``contents``."""
    rows = contents.take(pa.array([v.content for v in versions], pa.int64()))
    changed = contents.select([f.name for f in OUTCOME_FIELDS])
    outcomes = changed.take(pa.array([v.outcome for v in versions], pa.int64()))
    has_outcome = pa.array([v.outcome is not None for v in versions])
    values: dict[str, object] = {
        f.name: pc.if_else(has_outcome, outcomes.column(f.name), rows.column(f.name))
        for f in OUTCOME_FIELDS
    }
    values |= {name: pc.coalesce(outcomes.column(name), rows.column(name)) for name in KEPT}
    values[STATUS] = pa.array([v.status.value for v in versions], pa.string())
    for name, field in ((DUE, "due"), (CLAIM, "claim"), (BATCH, "batch"), (SEQ, "seq")):
        values[name] = pa.array([getattr(v, field) for v in versions], pa.int64())
    values[CHANGED_AT] = pa.array([v.changed_at for v in versions], pa.int64())
    return reshape(rows, schema, values)


def _in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in COORDINATES])


def base_versions(base: pa.Table, first_ref: int) -> Iterator[tuple[bytes, Known]]:
    """Yield identity and version of rows as they stand; the reference is the row's place."""
    columns = [base.column(name).to_pylist() for name in _BASE[:-1]]
    for ref, row in enumerate(zip(*columns, strict=True), first_ref):
        identity, topic, partition, offset, occurrence, *rest = row
        kind, status, due, claim, seq, batch, at = rest
        yield (
            identity,
            Known(
                coordinates=(topic, partition, offset, occurrence),
                kind=kind,
                status=_STATUSES[status],
                due=due,
                claim=claim,
                unsure=False,
                content=ref,
                outcome=None,
                seq=seq,
                batch=batch,
                changed_at=at,
            ),
        )


def without_versions(rows: pa.Table, versions: set[Coordinates]) -> pa.Table:
    """Leave out the rows of the versions named."""
    if not versions or rows.num_rows == 0:
        return rows
    return rows.filter(pa.array(~Versions(versions).among(rows)))
