"""States that no job has made: messages pending far ahead, or overdue, made by the column.

They are written as ``duestream state copy`` writes a state. No batch is numbered in it, so a new
checkpoint fits, as after an import; and its records lie on a partition that the input topic does
not have, so that they are nobody else's.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench.events import FILLER_BYTES, Ints
from state.columns import reshape
from state.copying import COPIED, Heard, Part, Standing, Target, copy
from state.open import open_target
from state.pausing import Paused
from state.resolve import Counts
from state.row import ROW, Kind, Status
from state.settings import StateSettings

FAR_KEYS = 5_000_000_000  # numbers of what is pending far ahead
DAY = 86_400 * 1_000_000
AHEAD = (DAY, 30 * DAY)
_ELSEWHERE = 1_000  # the partition that their records are said to lie on
_DELTA_ROWS = 400_000  # written at once
_DIGITS = 10
_SCATTER = 7_919  # neighbours in time have keys far apart

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Messages numbered from ``first``, due evenly between two instants (microseconds)."""

    first: int
    count: int
    soonest: int
    latest: int


def make(settings: StateSettings, topics: tuple[str, str], waiting: Waiting, now: int) -> None:
    """Make the state, in place of a job that has taken all of this from its input."""
    target = open_target(settings, now)
    try:
        copy(_Made(topics, waiting, now), _large(target), now, lambda done, total: None)
    finally:
        target.close()


class _Made:
    """The rows in the order in which they fall due, all of them pending."""

    place = "the benchmark"

    def __init__(self, topics: tuple[str, str], waiting: Waiting, now: int) -> None:
        self._topics = topics
        self._waiting = waiting
        self._now = now
        self._chance = np.random.default_rng(waiting.count)

    def standing(self) -> Standing:
        """Return all but the rows: no batch, and nothing taken from the input topic."""
        counts = Counts(self._waiting.count, 0, 0, 0, Counter())
        name = f"bench-{self._topics[0]}"
        return Standing(name, "made", 1, -1, 0, self._now, {}, counts, Paused())

    def total(self) -> int:
        """Return how many rows there are."""
        return self._waiting.count

    def parts(self, start: int, most: int) -> Iterator[Part]:
        """Make the rows; where they are many those of a day together, for they share files."""
        count = self._waiting.count
        for day, next_day in pairwise(self._days() if count > most else [0, count]):
            for first in range(max(day, start), next_day, most):
                upto = min(first + most, next_day)
                yield Part(self._rows(np.arange(first, upto)), upto)

    def made(self) -> pa.Table:
        """Return no claims."""
        return ROW.empty_table()

    def heard(self) -> Sequence[Heard]:
        """Return no commands beside the rows."""
        return []

    def by_status(self) -> Counter[str]:
        """Count the rows."""
        return Counter({Status.PENDING.value: self._waiting.count})

    def close(self) -> None:
        """Nothing to let go of."""

    def _days(self) -> list[int]:
        """Return the places at which days begin, and the end."""
        w = self._waiting
        midnights = range((w.soonest // DAY + 1) * DAY, w.latest, DAY)
        places = (-((w.soonest - at) * w.count // (w.latest - w.soonest)) for at in midnights)
        return sorted({0, *places, w.count})

    def _rows(self, places: Ints) -> pa.Table:
        w = self._waiting
        numbers = w.first + places * _SCATTER % w.count if w.count % _SCATTER else w.first + places
        due = w.soonest + (places * ((w.latest - w.soonest) / w.count)).astype(np.int64)
        source, output = self._topics
        keys = _beside(b"key-", _digits(numbers))
        identities = _beside(source.encode() + b"\0", keys)
        columns = {
            "identity": _binary(identities),
            "hash": pa.array(_crc32(identities)),
            "source_offset": pa.array(places),
            "key": _binary(keys),
            "output_key": _binary(keys),
            "payload": _binary(self._payloads(numbers, due)),
            "due": pa.array(due),
            "scheduled": pa.array(due),
        }
        same = {
            "source_topic": source,
            "source_partition": _ELSEWHERE,
            "source_timestamp": self._now - DAY,
            "output_topic": output,
            "kind": Kind.MESSAGE.value,
            "status": Status.PENDING.value,
            "changed_at": self._now,
            "batch": -1,
            "seq": 1,
        }
        same |= dict.fromkeys(("occurrence", "attempt"), 0)
        headers = pa.array([[]], ROW.field("headers").type)
        given = same | {"headers": headers.take(pa.array(np.zeros(len(places), np.int64)))}
        return reshape(pa.table(columns), COPIED, given)

    def _payloads(self, numbers: Ints, due: Ints) -> Bytes:
        heads = np.stack([numbers, due // 1000], axis=1).astype("<i8").view(np.uint8)
        filler = np.frombuffer(self._chance.bytes(FILLER_BYTES * len(numbers)), np.uint8)
        return np.concatenate([heads, filler.reshape(-1, FILLER_BYTES)], axis=1)


def _large(target: Target) -> Target:
    """Have the tables written in fewer and larger parts than a copy does, which minds memory."""
    if target.part_rows >= 50_000:
        target.part_rows = _DELTA_ROWS
    return target


def _digits(numbers: Ints) -> Bytes:
    powers = 10 ** np.arange(_DIGITS - 1, -1, -1)
    return (numbers[:, None] // powers % 10 + ord("0")).astype(np.uint8)


def _beside(text: bytes, columns: Bytes) -> Bytes:
    """Put the same text before each row."""
    repeated = np.broadcast_to(np.frombuffer(text, np.uint8), (len(columns), len(text)))
    return np.concatenate([repeated, columns], axis=1)


def _binary(columns: Bytes) -> pa.Array:
    width = columns.shape[1]
    data = pa.py_buffer(np.ascontiguousarray(columns).tobytes())
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(columns), [None, data])
    return fixed.cast(pa.binary())


def _table() -> npt.NDArray[np.uint32]:
    values = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        values = np.where(values & 1, (values >> 1) ^ np.uint32(0xEDB88320), values >> 1)
    return values.astype(np.uint32)


def _crc32(columns: Bytes) -> Ints:
    """Return zlib.crc32 of each row."""
    table, crc = _table(), np.full(len(columns), 0xFFFFFFFF, np.uint32)
    for column in columns.T:
        crc = table[(crc ^ column) & 0xFF] ^ (crc >> 8)
    return (crc ^ np.uint32(0xFFFFFFFF)).astype(np.int64)
