"""Claims what falls due: rows that the commit speaks of, and rows that only the database knows."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from state.claims import may_claim
from state.columns import reshape
from state.lines import claim_lines
from state.mongo.changes import Moment, claimed_fields
from state.mongo.documents import (
    coordinates_in,
    newest_in,
    rows_of,
    version_id,
    version_in,
)
from state.mongo.due import due_rows
from state.mongo.journal import Change, change
from state.mongo.layout import SCHEDULES, Db, Document
from state.mongo.scene import Scene
from state.row import KIND, ROW, Status
from state.select import as_due
from state.store import Tick
from state.version import Version


@dataclass(slots=True)
class Claimed:
    """The rows a commit claims: those it speaks of and those that it found."""

    batch: int
    now: int
    spoken_of: list[tuple[Document, Version]] = field(default_factory=list)
    found: list[Document] = field(default_factory=list)

    def changes(self, moment: Moment) -> Iterator[Change]:
        """Return what is to be written of the rows that were found."""
        values = claimed_fields(self.batch, self.now)
        for document in self.found:
            at = version_id(version_in(document)[:3])
            yield change(SCHEDULES, document["_id"], at, values, (), moment.seq)

    def documents(self) -> Iterator[tuple[Document, Version]]:
        """Return all of them as claimed, each with the newest command of its key."""
        values = claimed_fields(self.batch, self.now)
        for document, newest in self.spoken_of:
            yield document | values, newest
        for document in self.found:
            yield document | values, newest_in(document)


def claim(db: Db, scene: Scene, tick: Tick) -> tuple[Claimed, pa.Table]:
    """Claim of each lane the rows with the least due, as many as there is room for."""
    claimed = Claimed(tick.batch, tick.now)
    spoken_of = scene.pending(tick.claim_until)
    found = due_rows(db, tick.claim_until, tick.room, scene.brought)
    documents = [d for d in found if not scene.speaks_of(d)]
    documents += [scene.document(identity, known) for identity, known in spoken_of.values()]
    rows = rows_of(documents)
    order = as_due(rows)
    rows = rows.take(order)
    keep = may_claim(rows, tick.room)
    for place, kept in zip(order.to_pylist(), keep, strict=True):
        if not kept:
            continue
        document = documents[place]
        named = spoken_of.get(coordinates_in(document) or ("", 0, 0))
        if named is None:
            scene.counts.move(document[KIND], Status.PENDING, Status.CLAIMED)
            claimed.found.append(document)
        else:
            identity, known = named
            scene.claim(identity, known)
            claimed.spoken_of.append((document, scene.newest_after(identity)))
    lines = claim_lines(rows.filter(pa.array(keep)), tick.batch, tick.now)
    return claimed, reshape(lines, ROW)
