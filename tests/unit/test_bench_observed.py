"""What observers say of messages, and the states they are made from."""

import time
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.events import read_all, record
from bench.far_ahead import DAY, FAR_KEYS, Waiting, make
from bench.late import by_fold, during, faults, lateness
from bench.observe import Seen
from state.claims import Room
from state.open import open_store
from state.row import COMMANDS, OUTCOMES
from state.settings import DeltaSettings, StateSettings
from state.store import Tick


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_payloads_are_read_as_they_were_written() -> None:
    values = [record(number, due, "out")[1] for number, due in ((1, 1000), (2**40, 5))]
    numbers, dues = read_all(values)
    assert (numbers.tolist(), dues.tolist()) == ([1, 2**40], [1000, 5])


def test_each_number_is_to_come_once() -> None:
    expected = [(10, 3), (20, 1)]
    assert faults(expected, ints(10, 11, 12, 20)) == {"lost": 0, "twice": 0, "unwanted": 0}
    assert faults(expected, ints(10, 10, 10, 12, 20)) == {"lost": 1, "twice": 2, "unwanted": 0}
    assert faults(expected, ints(10, 11, 12, 13, 20)) == {"lost": 0, "twice": 0, "unwanted": 1}
    assert faults(expected, ints()) == {"lost": 4, "twice": 0, "unwanted": 0}


class Message(NamedTuple):
    """As a consumer of confluent_kafka hands it over."""

    number: int

    def value(self) -> bytes:
        return record(self.number, 1000, "out")[1]

    def timestamp(self) -> tuple[int, int]:
        return 1, 1010


def test_an_observer_counts_what_nobody_sent_in_its_scenario() -> None:
    seen = Seen((10, 5))
    assert seen.add([Message(10), Message(FAR_KEYS), Message(14), Message(9)]) == 2
    assert (seen.count, seen.strays) == (2, 2)
    assert seen.different([(10, 5)]) == 2


def test_lateness_is_told_by_quantile_by_second_and_by_fold() -> None:
    due, appended = ints(1000, 1500, 2500, 4000), ints(1010, 1520, 2540, 4080)
    assert lateness(appended - due)["max"] == 80
    assert [second for second, _, _ in during(appended - due, appended)] == [0, 1, 3]
    parts = by_fold(due, appended, [(2.0, 3.0)])
    assert parts["during_fold"]["p99"] == 40
    assert parts["without_fold"]["messages"] == 3


def test_a_made_state_is_taken_over_by_a_new_job(tmp_path: Path) -> None:
    settings = StateSettings(delta=DeltaSettings(path=str(tmp_path / "state")))
    now = time.time_ns() // 1000
    make(settings, ("in", "out"), Waiting(FAR_KEYS, 1_000, now - 1_000_000, now + DAY), now)
    store = open_store(settings)
    try:
        assert store.last_batch == -1, "a new checkpoint begins at batch 0"
        tick = Tick(0, now, COMMANDS.empty_table(), OUTCOMES.empty_table(), now, Room((100, 100)))
        claims = store.commit(tick)
        assert claims.num_rows == 1, "one in so many is due, at the first instant"
        numbers, dues = read_all(claims["payload"].to_pylist())
        assert numbers.tolist() == [FAR_KEYS]
        assert dues.tolist() == [(now - 1_000_000) // 1000]
        identity = claims["identity"][0].as_py()
        assert identity == b"in\0key-%010d" % FAR_KEYS
        assert claims["hash"][0].as_py() == zlib.crc32(identity)
        assert store.figures(now).pending == 1_000
    finally:
        store.close()
