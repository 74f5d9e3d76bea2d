"""duestream's own state under the load of the naive baseline: a thousand a tick, back to back."""

import time
from pathlib import Path

from confluent_kafka import Producer

from bench.store import NOW, Load, _puts
from state.columns import reshape
from state.open import open_store
from state.row import COMMANDS, KEY, OUTCOMES, PAYLOAD
from state.settings import StateSettings

_WARM = 5  # ticks that do not count


class Served(Load):
    """Puts messages that are due, claims and publishes them, and marks the last ones as done."""

    def serve(self, producer: Producer, topic: str, batch: int, seconds: float) -> list[float]:
        """Serve ticks of ``batch`` for so long; return how long each took.

        As in a job, what went out is marked as done in the commit of the tick that follows.
        """
        times: list[float] = []
        done = OUTCOMES.empty_table()
        end = time.monotonic() + seconds
        while len(times) < 2 * _WARM or time.monotonic() < end:
            puts = _puts(self._next, batch, NOW)  # made before: its maker is no part of a job
            begun = time.monotonic()
            claims = self._tick(puts, until=NOW + batch, outcomes=done)
            if claims.num_rows != batch:
                raise SystemExit(f"{claims.num_rows} rows were claimed instead of {batch}")
            keys, values = claims.column(KEY).to_pylist(), claims.column(PAYLOAD).to_pylist()
            for key, value in zip(keys, values, strict=True):
                producer.produce(topic, value, key)
            producer.flush()
            done = reshape(claims, OUTCOMES, {"status": "done", "published_offset": 1})
            self._store.maintain(NOW)
            times.append(time.monotonic() - begun)
        self._tick(COMMANDS.empty_table(), until=NOW, outcomes=done)
        return times[_WARM:]


def serve_ours(
    servers: str, topic: str, folder: Path, pending: int, seconds: float, batch: int
) -> list[float]:
    """Return how long ticks of ``batch`` take with ``pending`` others far ahead, in seconds."""
    store = open_store(StateSettings.model_validate({"delta": {"path": str(folder / "ours")}}))
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 5})
    try:
        load = Served(store)
        load.fill(pending)
        store.fold(NOW)  # the pending rows are in their table, as they are in the naive one
        return load.serve(producer, topic, batch, seconds)
    finally:
        store.close()
