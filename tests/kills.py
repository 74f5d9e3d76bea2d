"""Lets a job live under a load while it, its broker and its database are killed at random."""

import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from tests.acceptance.lives import Lives, wait_for

_STEP = 0.1  # seconds between calls of a load
_DRAIN = 600.0


class Server(Protocol):
    """What is killed and started again, with its data."""

    def kill(self) -> None:
        """End it as a crash does."""

    def start(self) -> object:
        """Start it again, at the same address."""


class Load(Protocol):
    """What is asked of the job meanwhile."""

    def send(self) -> None:
        """Send what is to be sent by now; called ten times a second."""

    def look(self, running: bool) -> None:
        """Take note of how the job is doing; ``running`` says that it has come up."""

    def is_settled(self) -> bool:
        """Tell whether every message has come to its end; asked while the job runs."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often something happens, in seconds: at least, at most."""

    servers: tuple[float, float] = (35, 70)  # from one kill of a server to the next
    life: tuple[float, float] = (0, 20)  # how long a job lives once it is up
    down: tuple[float, float] = (0, 8)  # how long a server stays away
    at_start: float = 0.33  # the share of lives that may end before the job is up
    look: float = 5.0
    up_first: bool = False  # whether nothing is sent or killed before the job is up


class Kills:
    """The servers, one state, and whoever kills them."""

    def __init__(
        self,
        servers: Mapping[str, Server],
        lives: Lives,
        load: Load,
        chance: random.Random,
        pace: Pace | None = None,
        told: Callable[[str], None] = lambda who: None,
    ) -> None:
        """``told`` is called with who is killed, at that moment."""
        self._servers = servers
        self._lives = lives
        self._load = load
        self._chance = chance
        self._pace = pace or Pace()
        self._told = told
        self.kills = {"job": 0} | dict.fromkeys(servers, 0)
        self.ended: list[str] = []  # what lives that ended by themselves said last
        self._span = 0.0
        self._dies_at: float | None = None

    def run(self, seconds: float) -> None:
        """Load and kill for a while, then let everything come to its end."""
        self._begin()
        if self._pace.up_first:
            wait_for(self._is_running, "the job to come up")
        end = time.monotonic() + seconds
        killers = [
            self._timer(*self._pace.servers, partial(self._kill, name)) for name in self._servers
        ]
        look = self._timer(self._pace.look, self._pace.look, self._look)
        while time.monotonic() < end:
            self._load.send()
            for perhaps_kill in killers:
                perhaps_kill()
            look()
            self._perhaps_kill_job()
            self._live_on()
            time.sleep(_STEP)
        wait_for(self._is_settled, "the end of all messages", _DRAIN)

    def _timer(self, least: float, most: float, act: Callable[[], None]) -> Callable[[], None]:
        at = time.monotonic() + self._chance.uniform(least, most)

        def perhaps() -> None:
            nonlocal at
            if time.monotonic() >= at:
                act()
                at = time.monotonic() + self._chance.uniform(least, most)

        return perhaps

    def _begin(self) -> None:
        """Start a life; some may end before the job is up, the others some time after."""
        self._lives.begin()
        self._span = self._chance.uniform(*self._pace.life)
        soon = self._chance.random() < self._pace.at_start
        self._dies_at = time.monotonic() + self._span if soon else None

    def _perhaps_kill_job(self) -> None:
        if self._dies_at is None and self._is_running():
            self._dies_at = time.monotonic() + self._span
        if self._dies_at is not None and time.monotonic() >= self._dies_at:
            self._lives.kill()
            self.kills["job"] += 1
            self._told("job")
            say(f"the job is killed {'while it runs' if self._is_running() else 'at its start'}")
            self._begin()

    def _kill(self, name: str) -> None:
        self._servers[name].kill()
        self.kills[name] += 1
        self._told(name)
        say(f"the {name} is killed")
        up_again = time.monotonic() + self._chance.uniform(*self._pace.down)
        while time.monotonic() < up_again:
            self._load.send()
            time.sleep(_STEP)
        self._servers[name].start()

    def _live_on(self) -> None:
        """Start the job again when it has ended by itself, as it may without a broker."""
        if self._lives.has_ended:
            self.ended.append(self._lives.tail().strip().rpartition("\n")[2])
            say(f"the job has ended: {self.ended[-1]}")
            self._begin()

    def _look(self) -> None:
        self._load.look(self._is_running())

    def _is_running(self) -> bool:
        return "running;" in self._lives.log()

    def _is_settled(self) -> bool:
        self._live_on()
        return self._is_running() and self._load.is_settled()


def say(line: str) -> None:
    """Write a line with the time of day."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()
