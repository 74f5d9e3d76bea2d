"""Everything a store keeps in mind between ticks, gathered from the tables alone."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import HighMarks
from state.columns import reshape
from state.delta.balance import made_live, other_kinds
from state.delta.few import read_few
from state.delta.mark import Mark
from state.delta.outstanding import Closed, Outstanding
from state.delta.overlay import Overlay, overlay, without_versions
from state.delta.recents import Live, Recents, recents_of
from state.delta.snapshot import Snapshot, is_live_row, look
from state.delta.tables import Tables, read
from state.delta.tail import Tail
from state.fields import text_is
from state.figures import live_in
from state.lines import SEQ
from state.pausing import Paused
from state.resolve import Counts
from state.row import BATCH, CHANGED_AT, CLAIM, ENTRY, ROW, STATUS, Entry, Status
from state.select import by_due


class Commit(NamedTuple):
    """A commit that is not folded yet."""

    seq: int
    batch: int
    lines: int
    at: int
    change: int = 0  # by how many more rows are live after it, as far as it tells


@dataclass(slots=True)
class Mind:
    """What the store knows without looking at a disk."""

    seq: int
    line: int
    last_batch: int
    last_change: int | None
    taken: HighMarks
    recents: Recents
    outstanding: Outstanding
    made: pa.Table  # the claims of the last batch, as they were made
    unfolded: deque[Commit]
    closed: Closed = field(default_factory=Closed)
    paused: Paused = field(default_factory=Paused)
    releasing: bool = False  # rows may be parked that are not paused any more
    tail: Tail | None = None  # once somebody asks for keys
    counts: Counts = field(default_factory=Counts)  # as of the start, then of the last fold
    live: int = 0  # at most a little too many: what was displaced unseen is known after a fold

    def committed(self, commit: Commit) -> None:
        """Take note of a commit."""
        self.unfolded.append(commit)
        self.live += commit.change

    def folded(self, mark: Mark) -> None:
        """Take note of what is folded."""
        upto = mark.seq
        self.recents.folded(upto, self.seq)
        self.closed.folded()
        if self.tail is not None:
            self.tail.folded(upto, self.seq)
        while self.unfolded and self.unfolded[0].seq <= upto:
            self.unfolded.popleft()
        self.counts = mark.counts
        self.live = live_in(mark.counts) + sum(commit.change for commit in self.unfolded)


def recall(tables: Tables, live: Live) -> Mind:
    """Gather everything anew, as a job does when it starts; ``live`` looks keys up."""
    snapshot = look(tables)
    changed = overlay(snapshot)
    return Mind(
        seq=snapshot.seq,
        line=snapshot.last_line,
        last_batch=snapshot.last_batch,
        last_change=snapshot.last_change,
        taken=HighMarks(snapshot.taken),
        recents=recents_of(live, snapshot),
        outstanding=Outstanding(_claimed(snapshot, changed)),
        made=made_last(snapshot),
        unfolded=_unfolded(snapshot.tail, snapshot.last_batch),
        paused=snapshot.paused,
        releasing=snapshot.may_be_parked,
        counts=changed.counts,
        live=live_in(changed.counts),
    )


def _claimed(snapshot: Snapshot, changed: Overlay) -> pa.Table:
    where = is_live_row() & text_is(STATUS, Status.CLAIMED.value)
    folded = read_few(snapshot.schedules, ROW.names, where)
    folded = without_versions(folded, {known.coordinates for known in changed})
    recent = changed.rows(k for k in changed if k.status is Status.CLAIMED)
    return pa.concat_tables([reshape(folded, ROW), reshape(recent, ROW)])


def made_last(snapshot: Snapshot) -> pa.Table:
    """Return the claims of the last batch as they were made."""
    claimed = text_is(ENTRY, Entry.CLAIM.value) & (pc.field(CLAIM) == snapshot.last_batch)
    return by_due(reshape(read(snapshot.changelog, ROW.names, claimed), ROW))


def _unfolded(tail: pa.Table, last_batch: int) -> deque[Commit]:
    # The newest of each: the first commit of a copied state repeats lines of earlier batches.
    figures = [(BATCH, "max"), ([], "count_all"), (CHANGED_AT, "max")]
    found = tail.group_by(SEQ).aggregate(figures)
    rows = found.sort_by(SEQ).select([SEQ, f"{BATCH}_max", "count_all", f"{CHANGED_AT}_max"])
    commits = (Commit(*row.values()) for row in rows.to_pylist())
    others = other_kinds(tail)
    # Only what the next fold leaves is ever counted again.
    return deque(
        commit._replace(change=made_live(tail.filter(pc.field(SEQ) == commit.seq), others))
        if commit.batch == last_batch
        else commit
        for commit in commits
    )
