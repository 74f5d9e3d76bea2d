"""Says how many messages a batch may claim, so that an outbox stays small and a backlog is gentle.

What is long overdue, after an outage, goes out as fast as Kafka takes it, unless its topic has a
rate: then only so many a second of it are claimed, and messages that fall due now pass it by.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pipeline.clock import instant_text
from state.claims import Room
from state.row import DUE, OUTPUT_TOPIC

log = logging.getLogger(__name__)

_OVERDUE = 10_000_000  # microseconds; what is later than this is backlog
_BURST = 2.0  # seconds of a rate that may be claimed at once
_TELL_EVERY = 10.0


class Backlog:
    """Deals out the room of the outbox, and tells how catching up goes."""

    def __init__(self, claim_limit: int, outbox_limit: int, rates: Mapping[str, float]) -> None:
        self._claim_limit = claim_limit
        self._outbox_limit = outbox_limit
        self._rates = rates
        self._saved = dict.fromkeys(rates, 0.0)
        self._since = 0
        self._claimed = 0
        self._told = time.monotonic()

    def room(self, waiting: Sequence[int], now: int) -> Room:
        """Return the room of a batch; ``waiting`` is how many messages each lane holds."""
        share = self._claim_limit // len(waiting) or 1
        most = self._outbox_limit // len(waiting) or 1
        lanes = tuple(max(0, min(share, most - held)) for held in waiting)
        self._save_up(now)
        quotas = {topic: int(saved) for topic, saved in self._saved.items()}
        return Room(lanes, now - _OVERDUE, quotas)

    def claimed(self, claims: pa.Table, room: Room) -> None:
        """Take note of a batch's claims."""
        late = claims.column(DUE).to_numpy() < room.backlog_before
        if self._rates and late.any():
            topics = np.array(claims.column(OUTPUT_TOPIC).to_pylist(), object)[late]
            for topic in self._saved:
                self._saved[topic] -= float((topics == topic).sum())
        self._claimed += int(late.sum())

    def tell(self, now: int, next_due: Callable[[], int | None]) -> None:
        """Say now and then how it goes; ``next_due`` returns the least due of what is pending."""
        if time.monotonic() - self._told < _TELL_EVERY:
            return
        self._told = time.monotonic()
        oldest = next_due()
        if oldest is not None and oldest < now - _OVERDUE:
            log.info(
                "catching up: %d overdue messages taken since the last word, the oldest that "
                "waits was due %s",
                self._claimed,
                instant_text(oldest),
            )
        elif self._claimed:
            log.info("caught up: %d overdue messages taken since the last word", self._claimed)
        self._claimed = 0

    def _save_up(self, now: int) -> None:
        passed = (now - self._since) / 1_000_000 if self._since else _BURST
        self._since = now
        for topic, rate in self._rates.items():
            most = max(rate * _BURST, 1.0)
            self._saved[topic] = min(self._saved[topic] + rate * max(passed, 0.0), most)
