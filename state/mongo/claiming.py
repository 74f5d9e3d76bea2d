"""Claims what falls due: rows that the commit speaks of, and rows that only the database knows."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from state.claims import may_claim
from state.columns import reshape
from state.lines import claim_lines
from state.mongo.changes import Moment, claimed_fields
from state.mongo.documents import (
    collection_of,
    contents_of,
    identity_in,
    newest_in,
    rows_of,
    version_id,
    version_in,
)
from state.mongo.due import due_rows
from state.mongo.gather import by_id
from state.mongo.journal import Change, change
from state.mongo.layout import NEWEST, SCHEDULES, VERSIONS, Db, Document
from state.mongo.scene import Scene
from state.mongo.writing import document_of
from state.pausing import Paused
from state.repeating import Chosen, choose
from state.resolve import Known
from state.row import KIND, POLICY, ROW, SKIPPED, STATUS, Status
from state.select import as_due
from state.store import Tick
from state.version import Coordinates, Version


@dataclass(slots=True)
class Claimed:
    """The rows a commit claims.

    ``found`` are those that it does not speak of. ``noted`` are all of them, each with the newest
    command of its key and the collection it is then kept in.
    """

    batch: int
    now: int
    found: list[Document] = field(default_factory=list)
    noted: list[tuple[Document, Version, str]] = field(default_factory=list)

    def changes(self, moment: Moment) -> Iterator[Change]:
        """Return what is to be written of the rows that were found."""
        values = claimed_fields(self.batch, self.now)
        for document in self.found:
            at = version_id(version_in(document).coordinates)
            yield change(collection_of(document), document["_id"], at, values, (), moment.seq)

    def documents(self) -> Iterator[tuple[Document, Version, str]]:
        """Return all of them as claimed."""
        values = claimed_fields(self.batch, self.now)
        for document, newest, collection in self.noted:
            yield document | values, newest, collection


class Claiming:
    """Makes the claims of one commit."""

    def __init__(self, db: Db, scene: Scene, tick: Tick, paused: Paused, beside: bool) -> None:
        self._db = db
        self._scene = scene
        self._tick = tick
        self._paused = paused
        self.parked = 0
        self._places = (SCHEDULES, VERSIONS) if beside else (SCHEDULES,)
        self.claimed = Claimed(tick.batch, tick.now)

    def claim(self) -> pa.Table:
        """Claim of each lane the rows with the least due, as many as there is room for."""
        scene, tick = self._scene, self._tick
        spoken_of = scene.pending(tick.claim_until)
        found = due_rows(self._db, self._places, tick.claim_until, tick.room, scene.brought)
        documents = [d for d in found if not scene.speaks_of(d)]
        documents += [document_of(scene, i, known) for i, known in spoken_of.values()]
        rows = rows_of(documents)
        order = as_due(rows)
        rows = rows.take(order)
        keep, held = may_claim(rows, tick.room), self._paused.held(rows)
        self._park([documents[place] for place in _places(order, keep & held)], spoken_of)
        keep &= ~held
        chosen = choose(rows.filter(pa.array(keep)), tick)
        self._take(chosen, [documents[place] for place in _places(order, keep)], spoken_of)
        return reshape(claim_lines(chosen.claims, tick.batch, tick.now), ROW)

    def _take(
        self,
        chosen: Chosen,
        documents: list[Document],
        spoken_of: dict[Coordinates, tuple[bytes, Known]],
    ) -> None:
        """Have the rows that were chosen claimed, and make the occurrences that follow them."""
        scene = self._scene
        here: list[tuple[bytes, Known]] = []
        policies = chosen.claims.column(POLICY).to_pylist()
        made = _made(chosen.claims)
        for place, origin in enumerate(chosen.origins.tolist()):
            document = documents[origin]
            if place in made:
                known = self._repeat(document, *made[place])
                here.append((identity_in(document), known))
            elif (known_here := self._known(document, policies[place], spoken_of)) is not None:
                here.append(known_here)
            else:
                scene.counts.move(document[KIND], Status.PENDING, Status.CLAIMED)
                self.claimed.found.append(document)
        for identity, known in here:
            scene.claim(identity, known)
        upcoming = _made(chosen.upcoming)
        for place, origin in enumerate(chosen.upcoming_from.tolist()):
            self._repeat(documents[origin], *upcoming[place])
        self._note(here)

    def _park(
        self, documents: list[Document], spoken_of: dict[Coordinates, tuple[bytes, Known]]
    ) -> None:
        """Hold back what is paused."""
        self.parked = len(documents)
        for document in documents:
            named = spoken_of.get(version_in(document).coordinates)
            if named is None:
                named = self._scene.speak_of(document, collection_of(document))
            self._scene.park(*named)

    def _known(
        self,
        document: Document,
        policy: str | None,
        spoken_of: dict[Coordinates, tuple[bytes, Known]],
    ) -> tuple[bytes, Known] | None:
        """Return a version that is to be changed in the scene, with what it keeps of its policy."""
        named = spoken_of.get(version_in(document).coordinates)
        if document.get(POLICY) != policy:
            named = named or self._scene.speak_of(document, collection_of(document))
            self._scene.pass_on(named[1], policy)
        return named

    def _repeat(self, document: Document, content: Document, skipped: int) -> Known:
        return self._scene.repeat(identity_in(document), content, skipped)

    def _note(self, here: list[tuple[bytes, Known]]) -> None:
        """Take note of what is claimed, with all that an outcome of it will need."""
        scene = self._scene
        for identity, known in here:
            document = document_of(scene, identity, known)
            place = scene.collection_of(identity, known.coordinates)
            self.claimed.noted.append((document, scene.newest_after(identity), place))
        heads = [identity_in(d) for d in self.claimed.found if collection_of(d) == VERSIONS]
        newest = {d["_id"]: newest_in(d) for d in by_id(self._db, SCHEDULES, heads, {NEWEST: 1})}
        for document in self.claimed.found:
            place, own = collection_of(document), version_in(document)
            known_as = newest_in(document) if place == SCHEDULES else own
            self.claimed.noted.append(
                (document, newest.get(identity_in(document), known_as), place)
            )


def _places(order: pa.UInt64Array, wanted: npt.NDArray[np.bool_]) -> list[int]:
    return order.filter(pa.array(wanted)).to_pylist()  # type: ignore[no-any-return]


def _made(rows: pa.Table) -> dict[int, tuple[Document, int]]:
    """Return, by place, the content of the rows that a series has made, and what was skipped."""
    skipped = rows.column(SKIPPED).to_pylist()
    if not any(number is not None for number in skipped):
        return {}
    contents = contents_of(reshape(rows, ROW, {STATUS: Status.PENDING.value}))
    return {
        place: (contents[place], number)
        for place, number in enumerate(skipped)
        if number is not None
    }
