"""Tells whether the job is alive and whether it is ready, and if not why not."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from pipeline.observe.observer import Lanes, Observer, Ticked

_ASK_KAFKA_EVERY = 5.0  # seconds
_TRYING = 30.0  # seconds after which a lane that tries to publish counts as cut off


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether all is well, and a sentence that says why or why not."""

    well: bool
    why: str


class Health(Observer):
    """Listens to the job; times are those of a monotonic clock, in seconds."""

    listens = True

    def __init__(self, tick_timeout: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._timeout = tick_timeout
        self._clock = clock
        self._life = clock()  # the last sign of it
        self._ticks = 0
        self._waits: str | None = None
        self._lanes: Callable[[], Lanes] | None = None
        self._reach: Callable[[], None] | None = None
        self._reached: tuple[float, str | None] = (float("-inf"), None)  # when, and why not
        self._asking = threading.Lock()

    def began(self, lanes: Callable[[], Lanes], reach_kafka: Callable[[], None]) -> None:
        """Take note of where to ask."""
        self._lanes, self._reach = lanes, reach_kafka
        self._life = self._clock()

    def ticked(self, tick: Ticked) -> None:
        """Take it for a sign of life."""
        self._ticks, self._waits, self._life = self._ticks + 1, None, self._clock()

    def waits(self, why: str) -> None:
        """Take it for a sign of life: to start the job anew would not help."""
        self._waits, self._life = why, self._clock()

    def alive(self) -> Verdict:
        """Tell whether the job works, or waits for good reason; else it is best started anew."""
        stopped = self._lanes().stopped if self._lanes else ()
        if stopped:
            return Verdict(False, f"publishing has stopped: {'; '.join(stopped)}")
        silent = self._clock() - self._life
        if silent > self._timeout:
            return Verdict(
                False,
                f"no micro-batch has ended for {silent:.0f} s, more than health.tick_timeout "
                f"({self._timeout:.0f} s) allows",
            )
        if self._waits:
            return Verdict(True, f"waiting: {self._waits}")
        if self._ticks == 0:
            return Verdict(True, f"starting, for {silent:.0f} s now")
        return Verdict(True, f"the last micro-batch ended {silent:.1f} s ago")

    def ready(self) -> Verdict:
        """Tell whether the job takes schedules and can publish."""
        alive = self.alive()
        if not alive.well:
            return alive
        if self._ticks == 0:
            return Verdict(False, "the first micro-batch has not ended yet")
        if self._waits:
            return Verdict(False, self._waits)
        trying = self._lanes().trying if self._lanes else 0.0
        if trying > _TRYING:
            return Verdict(False, f"a lane has been trying to publish for {trying:.0f} s")
        unreached = self._unreached()
        if unreached:
            return Verdict(False, f"the outbox does not reach Kafka: {unreached}")
        return Verdict(True, "taking schedules and publishing")

    def _unreached(self) -> str | None:
        """Ask Kafka, unless that was done a moment ago; return why it does not answer."""
        with self._asking:
            asked, why = self._reached
            if self._reach is not None and self._clock() - asked > _ASK_KAFKA_EVERY:
                why = _why_not(self._reach)
                self._reached = self._clock(), why
            return why


def _why_not(reach: Callable[[], None]) -> str | None:
    try:
        reach()
    except Exception as error:
        return str(error) or type(error).__name__
    return None
