"""The lives of the job under soak: each on a leash, so that none outlives the soak."""

import time

from bench.soak_heap import TOUCHED
from pipeline.leashed import Leashed
from tests.acceptance.lives import Lives


class HeldLives(Lives):
    """Runs the job as Lives does, with the times of its ticks in a file."""

    held: Leashed | None = None

    def begin(self, crash_at: str = "", *words: str) -> None:
        """Start the job; it ends when this process ends."""
        self.logs.append(self._folder / f"life-{len(self.logs)}.log")
        self.logs[-1].touch()
        run = self._words("run", "--measure", str(self._folder / "ticks.jsonl"), *words)
        self.held = Leashed(["env", f"SPARK_SUBMIT_OPTS={TOUCHED}", *run], self.logs[-1])

    @property
    def has_ended(self) -> bool:
        """Whether the job is not running now."""
        return self.held is None or not self.held.alive

    @property
    def pid(self) -> int | None:
        """The process of the job, None when it has ended."""
        return None if self.has_ended or self.held is None else self.held.pid

    def kill(self) -> None:
        """End the job as kill -9 does."""
        if self.held is not None:
            self.held.end("kill")

    def stop(self) -> int:
        """End the job politely; 0 if it ended in time, so that nothing is claimed any more."""
        if self.held is not None:
            begun = time.monotonic()
            self.held.end("stop")
            return int(time.monotonic() - begun > _STOPS_WITHIN)
        return 0


_STOPS_WITHIN = 19.5  # seconds; a leash waits for twenty and then kills
