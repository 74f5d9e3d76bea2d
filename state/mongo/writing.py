"""Turns what a commit makes of its versions into statements, one for each document.

``schedules`` has the newest version of a key, its head; ``versions`` those that a newer one has
displaced. A version that is displaced stays so, whatever becomes of it: one that is pending again
is found there by an index of its own.
"""

from collections.abc import Iterator

from state.mongo.changes import closing, content, fields_changed
from state.mongo.documents import coordinates_in, version_id, version_in, without
from state.mongo.journal import Change, change, insert, replace
from state.mongo.layout import CLOSED_AT, LANE, NEWEST, SCHEDULES, SEQ, VERSIONS, Document
from state.mongo.scene import Scene
from state.resolve import Known
from state.row import HASH, IDENTITY, POLICY, Status
from state.version import Coordinates

_NAMES = ("_id", IDENTITY, NEWEST, SEQ)


def changes(scene: Scene) -> Iterator[Change]:
    """Return what is to be written, one change a document."""
    for identity in scene.lines:
        yield from _Key(scene, identity).changes()


class _Key:
    """The versions of one key in a scene."""

    def __init__(self, scene: Scene, identity: bytes) -> None:
        self._scene = scene
        self._identity = identity
        self._seq = scene.moment.seq
        self._versions = scene.known[identity]
        self._document = scene.documents.get(identity)
        self._before = coordinates_in(self._document) if self._document else None
        self._head = scene.heads.get(identity)

    def changes(self) -> Iterator[Change]:
        heard = self._heard()
        if self._head is not None:
            yield self._new_head(self._head, heard)
            if self._before is not None:
                yield self._displace(self._versions[self._before])
        elif heard and self._before is None:
            only = {"_id": self._identity, **heard, CLOSED_AT: self._scene.moment.now}
            yield (insert if self._document is None else replace)(SCHEDULES, only, self._seq)
        elif heard and self._before is not None:
            yield self._changed(self._versions[self._before], heard)
        done = {self._head, self._before if heard or self._head else None}
        for coordinates, known in self._versions.items():
            if coordinates not in done and known.seq == self._seq:
                is_new = coordinates not in self._scene.homes
                yield self._displace(known) if is_new else self._changed(known, {})

    def _heard(self) -> Document:
        command = self._scene.commands.get(self._identity)
        return {NEWEST: list(command.version)} if command and not command.late else {}

    def _new_head(self, head: Coordinates, heard: Document) -> Change:
        made = self._content(self._versions[head])
        if self._document is None:
            newest = heard or {NEWEST: list(version_in(made))}
            return insert(SCHEDULES, {"_id": self._identity, **newest, **made}, self._seq)
        if heard or self._before is None:
            schedule = {"_id": self._identity, NEWEST: self._document[NEWEST], **heard, **made}
            return replace(SCHEDULES, schedule, self._seq)
        # The next occurrence differs in little from the one before.
        values = {
            n: v for n, v in made.items() if n not in self._document or self._document[n] != v
        }
        gone = [name for name in without(self._document, _NAMES) if name not in made]
        at = version_id(self._before)
        return change(SCHEDULES, self._identity, at, values, gone, self._seq)

    def _changed(self, known: Known, more: Document) -> Change:
        home = self._scene.homes[known.coordinates]
        if home.document is not None and CLOSED_AT in home.document:
            # It may be purged at any time: what is written must stand alone.
            kept = {n: home.document[n] for n in ("_id", IDENTITY, NEWEST) if n in home.document}
            return replace(home.collection, kept | more | self._content(known), self._seq)
        values, gone = fields_changed(known, self._outcome(known), self._scene.moment)
        if known.coordinates in self._scene.policies:
            policy = self._scene.policies[known.coordinates]
            values |= {} if policy is None else {POLICY: policy}
            gone += [POLICY] if policy is None else []
        at = version_id(known.coordinates)
        displaced = home.collection == VERSIONS
        if displaced and known.status is Status.PENDING:
            values[LANE] = self._hash(known.coordinates) % (self._scene.moment.lanes or 1)
        id_ = at if displaced else self._identity
        return change(home.collection, id_, at, values | more, gone, self._seq)

    def _displace(self, known: Known) -> Change:
        """Write a version to where displaced ones are kept."""
        names = {"_id": version_id(known.coordinates), IDENTITY: self._identity}
        return insert(VERSIONS, names | self._content(known), self._seq)

    def _content(self, known: Known) -> Document:
        return content_of(self._scene, known)

    def _outcome(self, known: Known) -> Document | None:
        return _outcome(self._scene, known)

    def _hash(self, coordinates: Coordinates) -> int:
        document = self._scene.homes[coordinates].document
        claim = self._scene.claims.get(coordinates)
        if document is not None or claim is None:
            assert document is not None  # noqa: S101
            return int(document[HASH])
        return claim.hash


def document_of(scene: Scene, identity: bytes, known: Known) -> Document:
    """Return the document of a version as a commit leaves it."""
    return {"_id": identity, **content_of(scene, known)}


def content_of(scene: Scene, known: Known) -> Document:
    """Return what a commit leaves of a version, but for what names its document."""
    home = scene.homes.get(known.coordinates)
    if home is None:
        base = _with_policy(scene, known, scene.contents[known.content])
        return content(base, known, None, scene.moment)
    assert home.document is not None  # noqa: S101
    base = without(home.document, _NAMES)
    if known.seq != scene.moment.seq:
        return base | closing(known)
    return content(_with_policy(scene, known, base), known, _outcome(scene, known), scene.moment)


def _with_policy(scene: Scene, known: Known, base: Document) -> Document:
    if known.coordinates not in scene.policies:
        return base
    policy = scene.policies[known.coordinates]
    return without(base, (POLICY,)) | ({} if policy is None else {POLICY: policy})


def _outcome(scene: Scene, known: Known) -> Document | None:
    ref, said = scene.outcomes.get(known.coordinates, (None, None))
    return said if ref is not None and ref in (known.outcome, known.content) else None
