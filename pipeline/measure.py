"""Measures the ticks and tells now and then how the job is doing."""

import json
import logging
import time
from pathlib import Path

from pipeline.clock import now_micros
from pipeline.said import Said

log = logging.getLogger(__name__)

_TELL_EVERY = 60.0


class Measure:
    """Times every tick; with a file, also writes a line of JSON for each."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file.open("a", buffering=1) if file else None
        self._begun = 0.0
        self._begun_at = 0
        self._laps: dict[str, float] = {}
        self._told = time.monotonic()
        self._ticks = 0
        self._commands = 0
        self._claims = 0
        self._slowest = 0.0

    def begun(self) -> None:
        """Note that a tick begins."""
        self._begun = time.monotonic()
        self._begun_at = now_micros()
        self._laps = {}

    def lap(self, name: str) -> None:
        """Note that a part of the tick is done."""
        spent = self.seconds - sum(self._laps.values())
        self._laps[name] = round(spent, 6)

    @property
    def seconds(self) -> float:
        """How long the tick has taken so far."""
        return time.monotonic() - self._begun

    @property
    def laps(self) -> dict[str, float]:
        """How long its parts took, in seconds."""
        return self._laps

    def ended(self, batch: int, said: Said, claims: int, waiting: int) -> None:
        """Note that the tick has ended; ``plan`` is what Spark took from its time to its start."""
        seconds = self.seconds
        self._ticks += 1
        self._commands += said.count
        self._claims += claims
        self._slowest = max(self._slowest, seconds)
        if self._file:
            line = {
                "batch": batch,
                "time": said.now,
                "seconds": round(seconds, 4),
                "plan": max(0, self._begun_at - said.now) / 1_000_000,
                **self._laps,
                "commands": said.count,
                "claims": claims,
                "waiting": waiting,
            }
            self._file.write(json.dumps(line) + "\n")
        if time.monotonic() - self._told > _TELL_EVERY:
            self._tell(waiting)

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def _tell(self, waiting: int) -> None:
        log.info(
            "%d ticks, %d commands taken, %d messages claimed, %d wait for their instant, "
            "slowest tick %.2f s",
            self._ticks,
            self._commands,
            self._claims,
            waiting,
            self._slowest,
        )
        self._told = time.monotonic()
        self._ticks = self._commands = self._claims = 0
        self._slowest = 0.0
