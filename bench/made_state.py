"""A state of any size that no job has made: pending rows, and as many closed ones, to be copied."""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench.store import NOW
from state.columns import reshape
from state.copying import COPIED, Heard, Part, Standing
from state.pausing import Paused
from state.resolve import Counts
from state.row import ROW, Kind, Status

TOPICS = 20
DAY = 86_400 * 1_000_000
HOUR = DAY // 24
AHEAD = 30 * DAY  # pending rows are due within this time
LAST_HOUR = 2_000  # went out within the last hour, whatever the size
DEAD_EVERY = 1_000
REPEATS_EVERY = 500
VERSION_EVERY = 1_000  # closed rows that are an older version of a pending key
REPEAT = '{"repeat":{"every":3600000000,"anchor":1800000000000000}}'
WHY = [{"key": "duestream-reason", "value": b"invalid_json"}]

Ints = npt.NDArray[np.int64]


class MadeState:
    """``size`` rows that are pending, numbered from 0, then ``size`` that are closed."""

    place = "the benchmark"

    def __init__(self, size: int) -> None:
        self._size = size

    def standing(self) -> Standing:
        """Return all but the rows."""
        rejected = self._size // DEAD_EVERY // 2
        ends = self.by_status()
        ends[Status.DEAD] -= rejected
        counts = Counts(2 * self._size - rejected, rejected, 0, 0, ends)
        taken = {"in": {"0": 2 * self._size}}
        return Standing("bench", "made", 1, 0, 0, NOW, taken, counts, Paused())

    def total(self) -> int:
        """Return how many rows there are."""
        return 2 * self._size

    def parts(self, start: int, most: int) -> Iterator[Part]:
        """Make the rows, some at a time."""
        for first in range(start, 2 * self._size, most):
            upto = min(first + most, 2 * self._size)
            numbers = np.arange(first, upto)
            live, closed = numbers[numbers < self._size], numbers[numbers >= self._size]
            rows = pa.concat_tables([self._pending(live), self._closed(closed)])
            yield Part(reshape(rows, COPIED, {"seq": 1}), upto)

    def made(self) -> pa.Table:
        """Return no claims."""
        return ROW.empty_table()

    def heard(self) -> Sequence[Heard]:
        """Return no commands beside the rows."""
        return []

    def by_status(self) -> Counter[str]:
        """Count the rows."""
        dead = self._size // DEAD_EVERY
        older = self._size // VERSION_EVERY
        done = self._size - dead - older
        return Counter({"pending": self._size, "done": done, "dead": dead, "replaced": older})

    def close(self) -> None:
        """Nothing to let go of."""

    def _pending(self, numbers: Ints) -> pa.Table:
        due = NOW + 60_000_000 + numbers * 7_919 % self._size * (AHEAD // self._size)
        policies = [REPEAT if n % REPEATS_EVERY == 0 else None for n in numbers.tolist()]
        said = {"status": Status.PENDING.value, "policy": pa.array(policies, pa.string())}
        keys = [b"order-%07d" % n for n in numbers.tolist()]
        return _rows(keys, numbers, due, NOW - DAY + 0 * numbers, said)

    def _closed(self, numbers: Ints) -> pa.Table:
        places = numbers - self._size
        left = self._size - places  # how many ended after it
        recent = min(LAST_HOUR, self._size // 2)
        ended = NOW - np.where(
            left <= recent,
            left * (HOUR // 2 // recent),
            HOUR + (left - recent) * (6 * DAY // self._size),
        )
        statuses = [_ending(n) for n in places.tolist()]
        kinds = [_kind(n) for n in places.tolist()]
        not_out = np.array([s != Status.DONE for s in statuses], bool)
        said = {
            "status": pa.array(statuses, pa.string()),
            "kind": pa.array(kinds, pa.string()),
            "published_at": pa.array(ended - 1_000_000, mask=not_out),
            "headers": pa.array(
                [WHY if k == Kind.REJECTION else [] for k in kinds], ROW.field("headers").type
            ),
        }
        keys = [
            b"order-%07d" % n if n % VERSION_EVERY == 1 else b"gone-%07d" % n
            for n in places.tolist()
        ]
        return _rows(keys, numbers, ended - 1_100_000, ended, said)


def _ending(place: int) -> str:
    if place % DEAD_EVERY == 0:
        return Status.DEAD.value
    return (Status.REPLACED if place % VERSION_EVERY == 1 else Status.DONE).value


def _kind(place: int) -> str:
    return (Kind.REJECTION if place % (2 * DEAD_EVERY) == DEAD_EVERY else Kind.MESSAGE).value


def _rows(
    keys: list[bytes], numbers: Ints, due: Ints, changed: Ints, said: dict[str, object]
) -> pa.Table:
    identities = [b"in\0" + key for key in keys]
    topics = [f"out-{n % TOPICS}" for n in numbers.tolist()]
    same = {"source_topic": "in", "source_partition": 0, "occurrence": 0, "attempt": 0, "batch": 0}
    columns = {
        "identity": pa.array(identities, pa.binary()),
        "hash": pa.array([zlib.crc32(identity) for identity in identities], pa.int64()),
        "source_offset": pa.array(numbers),
        "source_timestamp": pa.array(NOW - 8 * DAY + numbers),
        "key": pa.array(keys, pa.binary()),
        "output_key": pa.array(keys, pa.binary()),
        "output_topic": pa.array(topics, pa.string()),
        "due": pa.array(due),
        "scheduled": pa.array(due),
        "changed_at": pa.array(changed),
    }
    given = {"kind": Kind.MESSAGE.value, "payload": b"x" * 200} | same | said
    return reshape(pa.table(columns), ROW, given)
