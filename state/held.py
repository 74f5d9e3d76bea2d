"""Holds versions and their content in memory, and brings them up to date with new lines."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from state.lines import light_lines
from state.resolve import Counts, Known, Line, resolve
from state.row import (
    BATCH,
    CHANGED_AT,
    CLAIM,
    DUE,
    KEPT,
    LIVE,
    OUTCOME_FIELDS,
    ROW,
    STATUS,
)
from state.version import Coordinates

_OUTCOME = [f.name for f in OUTCOME_FIELDS if f.name not in (STATUS, *KEPT)]


class Held:
    """Every version that is known, by identity."""

    def __init__(self) -> None:
        self.counts = Counts()
        self._known: dict[bytes, dict[Coordinates, Known]] = {}
        self._contents: dict[int, dict[str, Any]] = {}
        self._next_ref = 0

    def __iter__(self) -> Iterator[Known]:
        return (known for versions in self._known.values() for known in versions.values())

    def get(self, identity: bytes, coordinates: Coordinates) -> Known | None:
        """Return one version, if it is known."""
        return self._known.get(identity, {}).get(coordinates)

    def of(self, identity: bytes) -> Iterable[Known]:
        """Return all versions of an identity."""
        return self._known.get(identity, {}).values()

    def knows(self, identity: bytes) -> bool:
        """Tell whether anything is known of an identity."""
        return identity in self._known

    def add(self, lines: pa.Table) -> None:
        """Take in the lines of one commit."""
        first = self._next_ref
        self._next_ref += lines.num_rows
        self._contents.update(enumerate(lines.to_pylist(), first))
        touched: defaultdict[bytes, list[Line]] = defaultdict(list)
        for identity, line in light_lines(lines, first):
            touched[identity].append(line)
        for identity, of_identity in touched.items():
            before = self._refs(identity)
            resolve(self._known.setdefault(identity, {}), of_identity, self.counts)
            self._drop(before.union(line.ref for line in of_identity) - self._refs(identity))

    def rows(self, versions: Iterable[Known]) -> pa.Table:
        """Return the full rows of ``versions``."""
        return pa.Table.from_pylist([self._row(known) for known in versions], schema=ROW)

    def forget_closed(self, before: int) -> None:
        """Drop the versions closed before an instant."""
        for identity, versions in list(self._known.items()):
            refs = self._refs(identity)
            old = [v for v in versions.values() if v.status not in LIVE and v.changed_at < before]
            for known in old:
                del versions[known.coordinates]
            self._drop(refs - self._refs(identity))
            if not versions:
                del self._known[identity]

    def _row(self, known: Known) -> dict[str, Any]:
        row = dict(self._contents[known.content])
        if known.outcome is not None:
            outcome = self._contents[known.outcome]
            row |= {name: outcome[name] for name in _OUTCOME}
            row |= {name: outcome[name] for name in KEPT if outcome[name] is not None}
        row |= {STATUS: known.status.value, DUE: known.due, CLAIM: known.claim}
        row |= {BATCH: known.batch, CHANGED_AT: known.changed_at}
        return {name: row[name] for name in ROW.names}

    def _refs(self, identity: bytes) -> set[int]:
        versions = self._known.get(identity, {}).values()
        return {v.content for v in versions} | {
            v.outcome for v in versions if v.outcome is not None
        }

    def _drop(self, refs: set[int]) -> None:
        for ref in refs:
            self._contents.pop(ref, None)
