"""The state after one commit, in memory: what the last fold left, and what came since."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from state.columns import reshape
from state.delta.base import Base
from state.delta.light import LIGHT, Marked
from state.delta.overlay import base_versions, materialize
from state.lines import LINE, META, SEQ, light_lines
from state.pausing import Paused
from state.resolve import Counts, Known, Line, resolve
from state.row import BATCH, CHANGED_AT, ENTRY, IDENTITY, SKIPPED, SUPERSEDED, Entry
from state.version import Coordinates

CONTENT = pa.schema([*LIGHT, pa.field(LINE, pa.int64())])
TAIL = [ENTRY, *LIGHT.names, SUPERSEDED, SKIPPED, LINE, META]  # what is read of each line
_PIECES = 16

Versions = dict[Coordinates, Known]


class Clock(NamedTuple):
    """The newest commit: its number, its batch and time, and what is paused by then."""

    seq: int
    batch: int = -1
    at: int | None = None
    paused: Paused = Paused()


@dataclass(frozen=True)
class Current:
    """Never changes: what the next commit says makes another one (``advanced``)."""

    base: Base
    clock: Clock
    known: dict[bytes, Versions]  # of all keys that were spoken of since the fold
    contents: pa.Table  # CONTENT: what the references of versions point into
    changed: pa.Table  # LIGHT: these versions as they stand
    counts: Counts
    absent: Marked  # rows of ``base.live`` whose keys were spoken of
    outdated: Marked  # rows of ``base.closed`` that were corrected

    def version(self, identity: bytes, coordinates: Coordinates) -> Known | None:
        """Return what became of a version since the fold; None if nothing did."""
        return self.known.get(identity, {}).get(coordinates)


def begun(base: Base) -> Current:
    """Return the state as the fold left it."""
    absent, outdated = np.zeros(len(base.live), bool), np.zeros(len(base.closed), bool)
    nothing = CONTENT.empty_table(), LIGHT.empty_table(), base.mark.counts
    return Current(base, Clock(seq=base.mark.seq), {}, *nothing, absent, outdated)


def advanced(current: Current, lines: pa.Table) -> Current:
    """Return the state after more commits; ``lines`` (TAIL) are theirs, in order."""
    base, first = current.base, current.contents.num_rows
    said: defaultdict[bytes, list[Line]] = defaultdict(list)
    for identity, line in light_lines(lines, first):
        said[identity].append(line)
    places = base.live.of_identities([i for i in said if i not in current.known])
    standing = base.live.rows.take(pa.array(places))
    known = _copied(current.known, said)
    for identity, version in base_versions(standing, first + lines.num_rows):
        known[identity][version.coordinates] = version
    counts = current.counts.copy()
    for identity, of_key in said.items():
        resolve(known[identity], of_key, counts)
    contents = _joined([current.contents, reshape(lines, CONTENT), reshape(standing, CONTENT)])
    return replace(
        current,
        clock=_newest_clock(lines) or current.clock,
        known=known,
        contents=contents,
        changed=_changed(current, said, known, contents),
        counts=counts,
        absent=_marked(current.absent, places),
        outdated=_corrected(current, said, known),
    )


def _copied(known: dict[bytes, Versions], identities: Iterable[bytes]) -> dict[bytes, Versions]:
    """Return what is known, with copies of what is about to change."""
    anew = {i: {c: replace(k) for c, k in known.get(i, {}).items()} for i in identities}
    return known | anew


def _changed(
    current: Current, said: Collection[bytes], known: dict[bytes, Versions], contents: pa.Table
) -> pa.Table:
    if not said:
        return current.changed
    is_said = pc.is_in(current.changed.column(IDENTITY), pa.array(list(said), pa.binary()))
    versions = [version for identity in said for version in known[identity].values()]
    now = materialize(versions, contents, LIGHT)
    return _joined([current.changed.filter(pc.invert(is_said)), now])


def _corrected(current: Current, said: Iterable[bytes], known: dict[bytes, Versions]) -> Marked:
    closed, outdated = current.base.closed, current.outdated
    for identity in said:
        corrected = {c for c, version in known[identity].items() if version.corrects}
        if corrected:
            places = closed.of_identities([identity])
            named = closed.names_at(places)
            found = [p for p, name in zip(places, named, strict=True) if name in corrected]
            outdated = _marked(outdated, np.array(found, np.int64))
    return outdated


def _marked(marks: Marked, places: "np.typing.NDArray[np.int64]") -> Marked:
    if len(places) == 0:
        return marks
    marks = marks.copy()
    marks[places] = True
    return marks


def _newest_clock(lines: pa.Table) -> Clock | None:
    clocks = lines.filter(pc.field(ENTRY) == Entry.CLOCK.value)
    if clocks.num_rows == 0:
        return None
    row = clocks.slice(clocks.num_rows - 1).to_pylist()[0]
    paused = Paused.from_dict(json.loads(row[META])["paused"])
    return Clock(row[SEQ], row[BATCH], row[CHANGED_AT], paused)


def _joined(parts: list[pa.Table]) -> pa.Table:
    whole = pa.concat_tables(parts)
    return whole.combine_chunks() if whole.column(0).num_chunks > _PIECES else whole
