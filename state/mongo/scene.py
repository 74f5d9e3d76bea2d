"""What one commit is about: the versions it names, as they stand, and what it makes of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from state.admission import coordinates_of, versions_of
from state.columns import reshape
from state.lines import light_lines
from state.mongo.changes import Moment
from state.mongo.documents import (
    contents_of,
    coordinates_in,
    identity_in,
    newest_in,
    version_in,
)
from state.mongo.layout import SCHEDULES, SEQ, VERSIONS, Document
from state.mongo.outstanding import Claim, Outstanding
from state.resolve import Counts, Known, Line, may_act, resolve
from state.row import (
    ATTEMPT,
    BATCH,
    CHANGED_AT,
    CLAIM,
    DUE,
    ENTRY,
    IDENTITY,
    KIND,
    OUTCOME_FIELDS,
    PARKED,
    PUBLISHED_OFFSET,
    ROW,
    SCHEDULED,
    STATUS,
    Entry,
    Status,
)
from state.version import Coordinates, Version, is_newer

_NOTHING_SAID: Document = {field.name: None for field in OUTCOME_FIELDS}
_APART = frozenset({Entry.REJECT, Entry.COMMAND})  # each has an identity of its own


class Command(NamedTuple):
    """The command of this commit for one key."""

    entry: str
    version: Version
    late: bool

    @property
    def makes(self) -> Coordinates | None:
        """The version that it puts in the place of the one before."""
        return None if self.late or self.entry == Entry.CANCEL else self.version.coordinates


@dataclass(slots=True)
class Home:
    """Where a version is kept; its document, if it was read."""

    collection: str
    document: Document | None


@dataclass
class Scene:
    """Bring in what stands, say what is new; state.mongo.writing turns it into statements."""

    moment: Moment
    counts: Counts
    claims: Outstanding
    known: defaultdict[bytes, dict[Coordinates, Known]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    homes: dict[Coordinates, Home] = field(default_factory=dict)
    documents: dict[bytes, Document] = field(default_factory=dict)  # those of ``schedules``
    commands: dict[bytes, Command] = field(default_factory=dict)
    heads: dict[bytes, Coordinates] = field(default_factory=dict)  # new ones in ``schedules``
    policies: dict[Coordinates, str | None] = field(default_factory=dict)  # that are new
    outcomes: dict[Coordinates, tuple[int, Document]] = field(default_factory=dict)
    contents: list[Document] = field(default_factory=list)
    lines: defaultdict[bytes, list[Line]] = field(default_factory=lambda: defaultdict(list))

    def bring(self, document: Document, collection: str) -> None:
        """Take in a document as it stands in the database."""
        identity, coordinates = identity_in(document), coordinates_in(document)
        if collection == SCHEDULES:
            self.documents[identity] = document
        if coordinates is not None:
            self.homes[coordinates] = Home(collection, document)
            self.known[identity][coordinates] = _known(document, coordinates)

    def knows(self, identity: bytes, coordinates: Coordinates) -> bool:
        """Tell whether a version was brought in, with its document or as a claim."""
        if coordinates in self.homes:
            return True
        claim = self.claims.get(coordinates)
        if claim is None:
            return False
        self.homes[coordinates] = Home(claim.collection, None)
        self.known[identity][coordinates] = _claimed(claim, coordinates)
        return True

    def has_document(self, coordinates: Coordinates) -> bool:
        """Tell whether the document of a version was brought in."""
        home = self.homes.get(coordinates)
        return home is not None and home.document is not None

    def attempt_of(self, identity: bytes, coordinates: Coordinates) -> int:
        """Return how many attempts the row of a version knows of."""
        home = self.homes.get(coordinates)
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
            self.outcomes[coordinates] = ref, said
            self.lines[identity].append(self._line(Entry.OUTCOME, coordinates, said, ref))

    def say_commands(self, lines: pa.Table, late: Sequence[bool]) -> None:
        """Take in the lines of commands, and of each whether it has no effect."""
        first = len(self.contents)
        self.contents.extend(contents_of(reshape(lines, ROW)))
        entries = lines.column(ENTRY).to_pylist()
        for (identity, line), (_, version), entry, is_late in zip(
            light_lines(lines, first), versions_of(lines), entries, late, strict=True
        ):
            command = Command(entry, version, is_late and entry not in _APART)
            if entry != Entry.IGNORED:
                self.commands[identity] = command
            if command.makes is not None:
                self.heads[identity] = command.makes
            self.lines[identity].append(line._replace(seq=self.moment.seq))

    def settle(self) -> bool:
        """Work out what becomes of every version; tell whether anything was said."""
        for identity, lines in self.lines.items():
            resolve(self.known[identity], lines, self.counts)
        return bool(self.lines)

    @property
    def brought(self) -> int:
        """How many documents were brought in, and may no longer stand as they were."""
        return len(self.homes)

    def speaks_of(self, document: Document) -> bool:
        """Tell whether a document may not stand any more after this commit."""
        identity = identity_in(document)
        if identity not in self.lines:
            return False
        return identity in self.commands or coordinates_in(document) in self.homes

    def pending(self, until: int) -> dict[Coordinates, tuple[bytes, Known]]:
        """Return what is pending now and due by an instant, among what is spoken of."""
        return {
            known.coordinates: (identity, known)
            for identity in self.lines
            for known in self.known[identity].values()
            if known.status is Status.PENDING and known.due <= until
        }

    def speak_of(self, document: Document, collection: str) -> tuple[bytes, Known]:
        """Bring in a document that was found to be due, to change it here."""
        identity, coordinates = identity_in(document), version_in(document).coordinates
        self.bring(document, collection)
        self.lines[identity]  # from now on changed with the others
        return identity, self.known[identity][coordinates]

    def bring_back(self, document: Document, collection: str) -> None:
        """Give a parked row the instant that it was scheduled for."""
        identity, known = self.speak_of(document, collection)
        self.lines[identity].append(self._moved(known, document[SCHEDULED]))

    def park(self, identity: bytes, known: Known) -> None:
        """Hold back a pending version that is spoken of here."""
        resolve(self.known[identity], [self._moved(known, PARKED)], self.counts)

    def _moved(self, known: Known, due: int) -> Line:
        _, before = self.outcomes.get(known.coordinates, (None, _NOTHING_SAID))
        said = before | {STATUS: Status.PENDING.value, DUE: due}
        ref = known.content
        if known.coordinates in self.homes:
            ref = self._add(said)
            self.outcomes[known.coordinates] = ref, said
        return self._line(Entry.OUTCOME, known.coordinates, said, ref)

    def claim(self, identity: bytes, known: Known) -> None:
        """Claim a version that is spoken of here."""
        said = {STATUS: Status.CLAIMED.value}
        line = self._line(Entry.CLAIM, known.coordinates, said, known.content)
        resolve(self.known[identity], [line._replace(claim=self.moment.batch)], self.counts)

    def pass_on(self, known: Known, policy: str | None) -> None:
        """Give a claimed version the policy it keeps when the next one has its repeat."""
        self.policies[known.coordinates] = policy

    def repeat(self, identity: bytes, content: Document, skipped: int) -> Known:
        """Add an occurrence that follows a claimed one; the last of them becomes the head."""
        coordinates = version_in(content).coordinates
        line = self._line(Entry.REPEAT, coordinates, content, self._add(content))
        line = line._replace(kind=content[KIND], skipped=skipped)
        resolve(self.known[identity], [line], self.counts)
        head = self.heads.get(identity)
        if head is None or head[:3] != coordinates[:3] or head < coordinates:
            self.heads[identity] = coordinates
        return self.known[identity][coordinates]

    def collection_of(self, identity: bytes, coordinates: Coordinates) -> str:
        """Return where this commit leaves a version."""
        head = self.heads.get(identity)
        if coordinates == head:
            return SCHEDULES
        home = self.homes.get(coordinates)
        return VERSIONS if home is None or head is not None else home.collection

    @property
    def leaves_beside(self) -> bool:
        """Whether a version that is not the head of its key is pending after this commit."""
        return any(
            known.status is Status.PENDING
            and self.collection_of(identity, known.coordinates) == VERSIONS
            for identity in self.lines
            for known in self.known[identity].values()
        )

    def remember(self, outstanding: Outstanding) -> None:
        """Bring what is remembered of claims up to date, once all of it is committed."""
        for identity in self.heads.keys() & self.documents.keys():
            before = coordinates_in(self.documents[identity])
            if before is not None:
                outstanding.moved(before, VERSIONS)
        for identity, command in self.commands.items():
            if not command.late:
                outstanding.heard(identity, command.version)
        outstanding.remove(
            known.coordinates
            for identity in self.lines
            for known in self.known[identity].values()
            if known.status is not Status.CLAIMED
        )

    def newest_after(self, identity: bytes) -> Version:
        """Return the newest command of a key after this commit."""
        command = self.commands.get(identity)
        if command is not None and not command.late:
            return command.version
        newest = self._newest(identity)
        assert newest is not None  # noqa: S101
        return newest

    def _newest(self, identity: bytes) -> Version | None:
        document = self.documents.get(identity)
        newest = self.claims.newest(identity) if document is None else newest_in(document)
        for coordinates in self.known.get(identity, ()):
            home = self.homes.get(coordinates)
            if home is not None and home.collection == VERSIONS and home.document is not None:
                version = version_in(home.document)
                newest = version if is_newer(version, newest) else newest
        return newest

    def _add(self, said: Document) -> int:
        self.contents.append(said)
        return len(self.contents) - 1

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
            skipped=None,
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
