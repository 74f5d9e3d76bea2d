"""Kills job, broker and database at random under a load of schedules, replacements and cancels.

``python -m tests.torture --minutes 5 --seed 7 --store mongo``: the seed gives the same load and the
same kills; what they hit depends on the machine. Ends with 1 when anything is lost, twice, early or
miscounted.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Protocol

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from pipeline.local_mongo import LocalMongo
from tests.acceptance.book import Book, Findings
from tests.acceptance.lives import LANES, Lives, in_delta, in_mongo, wait_for
from tests.reading import read_committed

SOURCE, OUT = "torture-in", "torture-out"
_STEP = 0.1  # seconds between commands
_LOOK_EVERY = 5.0
_DRAIN = 600.0
_FAULTS = ("lost", "twice", "early", "unwanted", "unknown", "disordered", "miscounted")


class Server(Protocol):
    """What is killed and started again, with its data."""

    def kill(self) -> None:
        """End it as a crash does."""

    def start(self) -> object:
        """Start it again, at the same address."""


class Torture:
    """The servers, one state, and whoever kills them."""

    def __init__(
        self, servers: Mapping[str, Server], lives: Lives, book: Book, chance: random.Random
    ) -> None:
        self._servers = servers
        self._lives = lives
        self.book = book
        self._chance = chance
        self.kills = {"job": 0} | dict.fromkeys(servers, 0)
        self.ended: list[str] = []  # what lives that ended by themselves said last
        self._keys = 0
        self._span = 0.0
        self._dies_at: float | None = None

    def run(self, seconds: float) -> None:
        """Load and kill for a while, then let everything come to its end."""
        end = time.monotonic() + seconds
        killers = [self._timer(35, 70, partial(self._kill, name)) for name in self._servers]
        look = self._timer(_LOOK_EVERY, _LOOK_EVERY, self._look)
        self._begin()
        while time.monotonic() < end:
            self._command()
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

    def _command(self) -> None:
        book, lot = self.book, self._chance.random()
        if lot < 0.65:
            self._keys += 1
            book.put(f"key-{self._keys}", self._chance.uniform(1, 40))
        for key in book.some(1, 1, 40) if 0.65 <= lot < 0.8 else []:
            book.put(key, self._chance.uniform(1, 40))
        for key in book.some(1, 1, 40) if 0.8 <= lot < 0.9 else []:
            book.cancel(key)
        for key in book.some(1, -300, -1) if lot >= 0.9 else []:
            book.put(key, self._chance.uniform(1, 20))

    def _begin(self) -> None:
        """Start a life; one in three may end before it runs, the others some time after."""
        self._lives.begin()
        self._span = self._chance.uniform(0, 20)
        self._dies_at = time.monotonic() + self._span if self._chance.random() < 0.33 else None

    def _perhaps_kill_job(self) -> None:
        if self._dies_at is None and self._is_running():
            self._dies_at = time.monotonic() + self._span
        if self._dies_at is not None and time.monotonic() >= self._dies_at:
            self._lives.kill()
            self.kills["job"] += 1
            say(f"the job is killed {'while it runs' if self._is_running() else 'at its start'}")
            self._begin()

    def _kill(self, name: str) -> None:
        self._servers[name].kill()
        self.kills[name] += 1
        say(f"the {name} is killed")
        up_again = time.monotonic() + self._chance.uniform(0, 8)
        while time.monotonic() < up_again:
            self._command()
            time.sleep(_STEP)
        self._servers[name].start()

    def _live_on(self) -> None:
        """Start the job again when it has ended by itself, as it may without a broker."""
        if self._lives.has_ended:
            self.ended.append(self._lives.tail().strip().rpartition("\n")[2])
            say(f"the job has ended: {self.ended[-1]}")
            self._begin()

    def _look(self) -> None:
        if self._is_running():
            self.book.look(self._lives.state())

    def _is_running(self) -> bool:
        return "running;" in self._lives.log()

    def _is_settled(self) -> bool:
        self._live_on()
        return self._is_running() and self.book.is_settled(self._lives.state())


def main() -> int:
    """Run as the arguments say; return the exit code."""
    wanted = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    wanted.add_argument("--minutes", type=float, default=5.0)
    wanted.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    wanted.add_argument("--store", choices=["delta", "mongo"], default="delta")
    given = wanted.parse_args()
    say(f"seed {given.seed}, {given.minutes:g} minutes, state in {given.store}")
    chance = random.Random(given.seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="duestream-torture-")))
        kafka = stack.enter_context(LocalKafka())
        if given.store == "delta":
            state = in_delta(folder, fold_rows=200)
            return _torture(folder, kafka, {}, state, given.minutes * 60, chance)
        mongo = stack.enter_context(LocalMongo())
        state = in_mongo(mongo.uri, "torture", timeout="3s")
        return _torture(folder, kafka, {"database": mongo}, state, given.minutes * 60, chance)


def _torture(
    folder: Path,
    kafka: LocalKafka,
    others: Mapping[str, Server],
    state: Mapping[str, object],
    seconds: float,
    chance: random.Random,
) -> int:
    servers = kafka.bootstrap_servers
    kafka.create_topics([SOURCE, OUT], 2, {"message.timestamp.type": "LogAppendTime"})
    lives = Lives(folder, servers, (SOURCE, OUT), state)
    options = {"log_level": 0}
    with Client(servers, topic=SOURCE, options=options, timeout=timedelta(minutes=5)) as client:
        killed = {"broker": kafka, **others}
        torture = Torture(killed, lives, Book(client, OUT, chance), chance)
        try:
            torture.run(seconds)
            code = lives.stop()
            findings = torture.book.audit(read_committed(servers, OUT), lives.state(), LANES)
        finally:
            lives.kill()
    _summary(torture, findings, code)
    return 1 if findings.faults() or code else 0


def _summary(torture: Torture, findings: Findings, code: int) -> None:
    lines = {
        "scheduled": len(torture.book.versions),
        "published": findings.published,
        **{f"kills of the {name}": count for name, count in torture.kills.items()},
        "ended by itself": len(torture.ended),
        "exit code at the end": code,
        "withdrawn in time": findings.withdrawn,
        **{name: len(getattr(findings, name)) for name in _FAULTS},
    }
    for name, value in lines.items():
        say(f"{name:<24}{value:>8}")
    for name, found in findings.faults().items():
        say(f"{name}: {found[:5]}")


def say(line: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
