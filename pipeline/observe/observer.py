"""What the steps of a job tell whoever listens; by default nobody does.

The steps know this file alone. An observer never fails a batch: ``Observers`` keeps whatever it
raises to itself, and says so once.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from state.figures import Figures
from state.row import Status

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of messages since the last time."""

    out: pa.Table  # what is out, as SENT has it
    decided: Iterable[tuple[Status, str]]  # of each other one what it became, and the reason


@dataclass(frozen=True, slots=True)
class Sent:
    """One message of a flush that is out."""

    topic: str
    headers: Sequence[tuple[str, str | bytes | None]]
    scheduled: int


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a lane has published at once."""

    lane: int
    began_at: int  # microseconds
    ended_at: int
    sent: Callable[[], Iterator[Sent]]


@dataclass(frozen=True, slots=True)
class Standing:
    """How the state stands, and the next due instant of what is pending in it."""

    figures: Figures
    next_due: int | None


@dataclass(frozen=True, slots=True)
class Ticked:
    """How a micro-batch went."""

    ended_at: int  # microseconds
    seconds: float
    stages: Mapping[str, float]
    lookahead: int  # microseconds
    standing: Standing | None  # not with every one


@dataclass(frozen=True, slots=True)
class Lanes:
    """How the lanes of the outbox stand."""

    waiting: int
    held: int
    overdue: int
    least_due: int | None  # of all that is not out
    trying: float = 0.0  # seconds since a lane began to publish what is not out yet
    stopped: tuple[str, ...] = ()  # why lanes have stopped


class Observer:
    """Listens to nothing; those that do override what they are interested in."""

    listens = False  # whether it is worth the trouble to tell it

    def began(self, lanes: Callable[[], Lanes], reach_kafka: Callable[[], None]) -> None:
        """Hear that the job has its outbox; ``reach_kafka`` raises when Kafka does not answer."""

    def taken(self, commands: pa.Table) -> None:
        """Hear what a batch has committed (state.row.COMMANDS)."""

    def settled(self, what: Callable[[], Settled]) -> None:
        """Hear what became of messages in the outbox."""

    def flushed(self, flush: Flushed) -> None:
        """Hear of what a lane published; called by the threads of the lanes."""

    def ticked(self, tick: Ticked) -> None:
        """Hear that a micro-batch has ended."""

    def lagged(self, lag: Mapping[str, int]) -> None:
        """Hear how many records of each topic the last micro-batch left behind."""

    def waits(self, why: str) -> None:
        """Hear that the job waits for something before it goes on."""


SILENT = Observer()


class Observers(Observer):
    """Tells several observers, and lets none of them do harm."""

    listens = True

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = observers
        self._complained: set[tuple[int, str]] = set()

    def began(self, lanes: Callable[[], Lanes], reach_kafka: Callable[[], None]) -> None:
        """Pass it on."""
        self._tell("began", lanes, reach_kafka)

    def taken(self, commands: pa.Table) -> None:
        """Pass it on."""
        self._tell("taken", commands)

    def settled(self, what: Callable[[], Settled]) -> None:
        """Pass it on."""
        self._tell("settled", what)

    def flushed(self, flush: Flushed) -> None:
        """Pass it on."""
        self._tell("flushed", flush)

    def ticked(self, tick: Ticked) -> None:
        """Pass it on."""
        self._tell("ticked", tick)

    def lagged(self, lag: Mapping[str, int]) -> None:
        """Pass it on."""
        self._tell("lagged", lag)

    def waits(self, why: str) -> None:
        """Pass it on."""
        self._tell("waits", why)

    def _tell(self, what: str, *said: object) -> None:
        for number, observer in enumerate(self._observers):
            try:
                getattr(observer, what)(*said)
            except Exception:
                if (number, what) not in self._complained:
                    self._complained.add((number, what))
                    log.warning(
                        "figures may be missing from now on, the job goes on: %s of %s failed",
                        *(what, type(observer).__name__),
                        exc_info=True,
                    )
