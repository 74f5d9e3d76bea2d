"""What one commit is about: the versions it names, as they stand, and what it makes of them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from state.admission import coordinates_of, versions_of
from state.columns import reshape
from state.lines import light_lines
from state.mongo.changes import Moment, closing, content, fields_changed
from state.mongo.documents import (
    contents_of,
    coordinates_in,
    identity_in,
    newest_in,
    version_id,
    version_in,
    without,
)
from state.mongo.journal import Change, change, insert, replace
from state.mongo.layout import (
    CLOSED_AT,
    MOVED,
    NEWEST,
    RETURNED,
    SCHEDULES,
    SEQ,
    VERSIONS,
    Document,
)
from state.mongo.outstanding import Claim, Outstanding
from state.resolve import Coordinates, Counts, Known, Line, may_act, resolve
from state.row import (
    ATTEMPT,
    BATCH,
    CHANGED_AT,
    CLAIM,
    DUE,
    ENTRY,
    IDENTITY,
    KIND,
    LIVE,
    PUBLISHED_OFFSET,
    ROW,
    STATUS,
    Entry,
    Status,
)
from state.version import Version


class Command(NamedTuple):
    """The command of this commit for one key."""

    entry: str
    version: Version
    late: bool

    @property
    def makes(self) -> Coordinates | None:
        """The version that it puts in the place of the one before."""
        return None if self.late or self.entry == Entry.CANCEL else self.version[:3]


@dataclass(slots=True)
class Home:
    """Where a version is kept; its document, if it was read."""

    collection: str
    document: Document | None


@dataclass
class Scene:
    """Bring in what stands, say what is new, then ask for the statements that make it so."""

    moment: Moment
    counts: Counts
    claims: Outstanding
    known: defaultdict[bytes, dict[Coordinates, Known]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    _homes: dict[Coordinates, Home] = field(default_factory=dict)
    _documents: dict[bytes, Document] = field(default_factory=dict)  # those of ``schedules``
    _commands: dict[bytes, Command] = field(default_factory=dict)
    _outcomes: dict[Coordinates, tuple[int, Document]] = field(default_factory=dict)
    _contents: list[Document] = field(default_factory=list)
    _lines: defaultdict[bytes, list[Line]] = field(default_factory=lambda: defaultdict(list))

    def bring(self, document: Document, collection: str) -> None:
        """Take in a document as it stands in the database."""
        identity, coordinates = identity_in(document), coordinates_in(document)
        if collection == SCHEDULES:
            self._documents[identity] = document
        if coordinates is not None:
            self._homes[coordinates] = Home(collection, document)
            self.known[identity][coordinates] = _known(document, coordinates)

    def knows(self, identity: bytes, coordinates: Coordinates) -> bool:
        """Tell whether a version was brought in, with its document or as a claim."""
        if coordinates in self._homes:
            return True
        claim = self.claims.get(coordinates)
        if claim is None:
            return False
        self._homes[coordinates] = Home(claim.collection, None)
        self.known[identity][coordinates] = _claimed(claim, coordinates)
        return True

    def has_document(self, coordinates: Coordinates) -> bool:
        """Tell whether the document of a version was brought in."""
        home = self._homes.get(coordinates)
        return home is not None and home.document is not None

    def attempt_of(self, identity: bytes, coordinates: Coordinates) -> int:
        """Return how many attempts the row of a version knows of."""
        home = self._homes.get(coordinates)
        if home is not None and home.document is not None:
            return int(home.document.get(ATTEMPT, 0))
        claim = self.claims.get(coordinates)
        return 0 if claim is None else claim.attempt

    def newest_of(self, named: Sequence[tuple[bytes, Version]]) -> list[Version | None]:
        """Return the newest command known of each key."""
        return [self._newest(identity) for identity, _ in named]

    def say_outcomes(self, outcomes: pa.Table) -> None:
        """Take in outcomes, one per version; those that change nothing are left out."""
        named = zip(outcomes.column(IDENTITY).to_pylist(), coordinates_of(outcomes), strict=True)
        for (identity, coordinates), said in zip(named, outcomes.to_pylist(), strict=True):
            known = self.known[identity].get(coordinates)
            if known is None or not may_act(known, said[STATUS]):
                continue
            ref = self._add(said)
            self._outcomes[coordinates] = ref, said
            self._lines[identity].append(self._line(Entry.OUTCOME, coordinates, said, ref))

    def say_commands(self, lines: pa.Table, late: Sequence[bool]) -> None:
        """Take in the lines of commands, and of each whether it came too late."""
        first = len(self._contents)
        self._contents.extend(contents_of(reshape(lines, ROW)))
        entries = lines.column(ENTRY).to_pylist()
        for (identity, line), (_, version), entry, is_late in zip(
            light_lines(lines, first), versions_of(lines), entries, late, strict=True
        ):
            stale = is_late and entry != Entry.REJECT
            self._commands[identity] = Command(entry, version, stale)
            self._lines[identity].append(line._replace(seq=self.moment.seq))

    def settle(self) -> bool:
        """Work out what becomes of every version; tell whether anything was said."""
        for identity, lines in self._lines.items():
            resolve(self.known[identity], lines, self.counts)
        return bool(self._lines)

    @property
    def brought(self) -> int:
        """How many documents were brought in, and may no longer stand as they were."""
        return len(self._documents)

    def speaks_of(self, document: Document) -> bool:
        """Tell whether a document of ``schedules`` may not stand any more after this commit."""
        identity = document["_id"]
        if identity not in self._lines:
            return False
        return identity in self._commands or coordinates_in(document) in self._homes

    def pending(self, until: int) -> dict[Coordinates, tuple[bytes, Known]]:
        """Return what is pending now and due by an instant, among what is spoken of."""
        return {
            known.coordinates: (identity, known)
            for identity in self._lines
            for known in self.known[identity].values()
            if known.status is Status.PENDING and known.due <= until
        }

    def claim(self, identity: bytes, known: Known) -> None:
        """Claim a version that is spoken of here."""
        said = {STATUS: Status.CLAIMED.value}
        line = self._line(Entry.CLAIM, known.coordinates, said, known.content)
        resolve(self.known[identity], [line._replace(claim=self.moment.batch)], self.counts)

    def document(self, identity: bytes, known: Known) -> Document:
        """Return the document of a version as this commit leaves it."""
        return {"_id": identity, **self._content(known)}

    def changes(self) -> Iterator[Change]:
        """Return what is to be written, one change a document."""
        for identity in self._lines:
            yield from self._of_key(identity, self.known[identity])

    def remember(self, outstanding: Outstanding) -> None:
        """Bring what is remembered of claims up to date, once all of it is committed."""
        for identity, command in self._commands.items():
            if command.makes is not None and identity in self._documents:
                before = coordinates_in(self._documents[identity])
                if before is not None:
                    outstanding.moved(before, VERSIONS)
            if not command.late:
                outstanding.heard(identity, command.version)
        outstanding.remove(
            known.coordinates
            for identity in self._lines
            for known in self.known[identity].values()
            if known.status is not Status.CLAIMED
        )

    def newest_after(self, identity: bytes) -> Version:
        """Return the newest command of a key after this commit."""
        command = self._commands.get(identity)
        if command is not None and not command.late:
            return command.version
        newest = self._newest(identity)
        assert newest is not None  # noqa: S101
        return newest

    def _of_key(self, identity: bytes, versions: dict[Coordinates, Known]) -> Iterator[Change]:
        document, command = self._documents.get(identity), self._commands.get(identity)
        made = command.makes if command else None
        before = coordinates_in(document) if document else None
        heard = {NEWEST: list(command.version)} if command and not command.late else {}
        write = insert if document is None else replace
        if made is not None:
            schedule = {"_id": identity, **heard, **self._content(versions[made])}
            yield write(SCHEDULES, schedule, self.moment.seq)
            if document is not None and before is not None:
                yield self._displace(identity, versions[before], RETURNED in document)
        elif heard and before is None:
            only = {"_id": identity, **heard, CLOSED_AT: self.moment.now}
            yield write(SCHEDULES, only, self.moment.seq)
        elif heard and before is not None:
            yield self._changed(identity, versions[before], heard)
        for coordinates, known in versions.items():
            if coordinates == made or (coordinates == before and heard):
                continue
            if known.seq == self.moment.seq:
                yield from self._of_version(identity, known)

    def _of_version(self, identity: bytes, known: Known) -> Iterator[Change]:
        home = self._homes.get(known.coordinates)
        if home is None:  # a put that came too late
            yield self._displace(identity, known, returned=False)
        elif home.collection == VERSIONS and known.status in LIVE:
            # Whatever displaced it is gone for good: it is the key's only version again.
            assert home.document is not None  # noqa: S101
            newest = {NEWEST: list(version_in(home.document)), RETURNED: True}
            schedule = {"_id": identity, **newest, **self._content(known)}
            yield replace(SCHEDULES, schedule, self.moment.seq)
            gone = {MOVED: True, STATUS: Status.REPLACED.value, CLOSED_AT: 0}
            id_ = version_id(known.coordinates)
            yield change(VERSIONS, id_, id_, gone, (), self.moment.seq)
        else:
            yield self._changed(identity, known, {})

    def _changed(self, identity: bytes, known: Known, more: Document) -> Change:
        home, seq = self._homes[known.coordinates], self.moment.seq
        displaced = home.collection == VERSIONS
        if home.document is not None and CLOSED_AT in home.document:
            # It may be purged at any time: what is written must stand alone.
            kept = {n: home.document[n] for n in ("_id", IDENTITY, NEWEST) if n in home.document}
            return replace(home.collection, kept | more | self._content(known), seq)
        values, gone = fields_changed(known, self._outcome(known), self.moment)
        at = version_id(known.coordinates)
        id_ = at if displaced else identity
        return change(home.collection, id_, at, values | more, gone, seq)

    def _displace(self, identity: bytes, known: Known, returned: bool) -> Change:
        """Write a version to where displaced ones are kept; it may have been there before."""
        write = replace if returned else insert
        names = {"_id": version_id(known.coordinates), IDENTITY: identity}
        return write(VERSIONS, names | self._content(known), self.moment.seq)

    def _content(self, known: Known) -> Document:
        home = self._homes.get(known.coordinates)
        if home is None:
            return content(self._contents[known.content], known, None, self.moment)
        assert home.document is not None  # noqa: S101
        base = without(home.document, ("_id", IDENTITY, NEWEST, RETURNED, SEQ))
        if known.seq != self.moment.seq:
            return base | closing(known)
        return content(base, known, self._outcome(known), self.moment)

    def _outcome(self, known: Known) -> Document | None:
        ref, said = self._outcomes.get(known.coordinates, (None, None))
        return said if ref is not None and ref in (known.outcome, known.content) else None

    def _newest(self, identity: bytes) -> Version | None:
        document = self._documents.get(identity)
        return self.claims.newest(identity) if document is None else newest_in(document)

    def _add(self, said: Document) -> int:
        self._contents.append(said)
        return len(self._contents) - 1

    def _line(self, entry: Entry, coordinates: Coordinates, said: Document, ref: int) -> Line:
        return Line(
            entry=entry,
            coordinates=coordinates,
            kind=None,
            status=said[STATUS],
            due=said.get(DUE),
            receipt=said.get(PUBLISHED_OFFSET),
            claim=None,
            superseded=None,
            seq=self.moment.seq,
            batch=self.moment.batch,
            changed_at=self.moment.now,
            ref=ref,
        )


def _known(document: Document, coordinates: Coordinates) -> Known:
    status = Status(document[STATUS])
    return Known(
        coordinates=coordinates,
        kind=document[KIND],
        status=status,
        due=document[DUE],
        claim=document.get(CLAIM),
        unsure=status is Status.DONE and PUBLISHED_OFFSET not in document,
        content=-1,
        outcome=None,
        seq=document[SEQ],
        batch=document[BATCH],
        changed_at=document[CHANGED_AT],
    )


def _claimed(claim: Claim, coordinates: Coordinates) -> Known:
    return Known(
        coordinates=coordinates,
        kind=claim.kind,
        status=Status.CLAIMED,
        due=claim.due,
        claim=claim.batch,
        unsure=False,
        content=-1,
        outcome=None,
        seq=-1,
        batch=-1,
        changed_at=-1,
    )
