"""What a lane's publisher promises, and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pipeline.outbox.decision import Decision
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.signature import Loan

Receipt = tuple[int, int]  # partition, offset


@dataclass(frozen=True, slots=True)
class Published:
    """How a flush went out: for each item its receipt, or what was decided instead."""

    at: int | None  # None: nobody saw when
    receipts: list[Receipt | None]  # None: out, but where is not known
    decided: dict[int, Decision]  # by the item's place in the flush

    def cut(self, count: int) -> "tuple[Published, Published]":
        """Return how the first items went out, and how the others did."""
        first = {n: decision for n, decision in self.decided.items() if n < count}
        rest = {n - count: decision for n, decision in self.decided.items() if n >= count}
        return (
            Published(self.at, self.receipts[:count], first),
            Published(self.at, self.receipts[count:], rest),
        )


class Publisher(Protocol):
    """Publishes flushes of one lane, each whole; only one thread calls it."""

    def open(self) -> Marker | None:
        """Take the lane over from any earlier job and return how far it came."""

    def publish(self, flush: Flush) -> Published:
        """Publish all items (or none, for the marker alone) and the marker, or raise."""

    def close(self) -> None:
        """Let go of the connection."""


class Lender(Publisher, Protocol):
    """A publisher whose lane others may publish on for a while."""

    def lend(self) -> Loan:
        """Let go of the lane, for others to publish on it until it is taken back."""

    def take_back(self, waits: Callable[[], None]) -> Marker:
        """Keep out whoever borrowed the lane and return how far it came.

        ``waits`` is called whenever Kafka does not answer.
        """
