"""Remembers which versions are claimed, and as much of each as an outcome needs to act on it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from state.mongo.documents import claim_of, coordinates_in, identity_in
from state.mongo.layout import SCHEDULES, Document
from state.row import ATTEMPT, DUE, HASH, KIND, OUTPUT_TOPIC
from state.version import Coordinates, Version


class Claim(NamedTuple):
    """A claimed version, and the collection it is kept in."""

    identity: bytes
    kind: str
    due: int
    batch: int
    attempt: int
    hash: int
    collection: str
    topic: str | None


class Outstanding:
    """Claimed versions, and of each of their keys the newest command."""

    def __init__(self) -> None:
        self._claims: dict[Coordinates, Claim] = {}
        self._of: dict[bytes, set[Coordinates]] = {}
        self._newest: dict[bytes, Version] = {}

    def __iter__(self) -> Iterator[Coordinates]:
        return iter(self._claims)

    def get(self, coordinates: Coordinates) -> Claim | None:
        """Return what is known of a claimed version."""
        return self._claims.get(coordinates)

    def newest(self, identity: bytes) -> Version | None:
        """Return the newest command of a key that has a claimed version."""
        return self._newest.get(identity)

    @property
    def oldest(self) -> int | None:
        """The first batch that has a claim which is not settled."""
        return min((claim.batch for claim in self._claims.values()), default=None)

    def add(self, document: Document, newest: Version, collection: str = SCHEDULES) -> None:
        """Take in a version that is claimed."""
        coordinates, identity = coordinates_in(document), identity_in(document)
        assert coordinates is not None  # noqa: S101
        self._claims[coordinates] = Claim(
            identity,
            document[KIND],
            document[DUE],
            claim_of(document),
            document.get(ATTEMPT, 0),
            document[HASH],
            collection,
            document.get(OUTPUT_TOPIC),
        )
        self._of.setdefault(identity, set()).add(coordinates)
        self._newest[identity] = newest

    def heard(self, identity: bytes, newest: Version) -> None:
        """Take note of a newer command."""
        if identity in self._of:
            self._newest[identity] = newest

    def moved(self, coordinates: Coordinates, collection: str) -> None:
        """Take note that a version is kept elsewhere now."""
        claim = self._claims.get(coordinates)
        if claim is not None:
            self._claims[coordinates] = claim._replace(collection=collection)

    def remove(self, named: Iterable[Coordinates]) -> None:
        """Let go of versions that are no longer claimed."""
        for coordinates in named:
            claim = self._claims.pop(coordinates, None)
            if claim is None:
                continue
            others = self._of[claim.identity]
            others.discard(coordinates)
            if not others:
                del self._of[claim.identity], self._newest[claim.identity]
