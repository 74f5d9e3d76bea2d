"""Kills job, broker and database at random under a load of schedules, replacements and cancels.

``python -m tests.torture --minutes 5 --seed 7 --store mongo``: the seed gives the same load and the
same kills; what they hit depends on the machine. Ends with 1 when anything is lost, twice, early or
miscounted.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from pipeline.local_mongo import LocalMongo
from state.inspect import Inspector
from tests.acceptance.book import Book, Findings
from tests.acceptance.lives import LANES, Lives, in_delta, in_mongo
from tests.kills import Kills, Server, say
from tests.reading import read_committed

SOURCE, OUT = "torture-in", "torture-out"
_FAULTS = ("lost", "twice", "early", "unwanted", "unknown", "disordered", "miscounted")


class Commands:
    """Schedules, replaces and cancels at random, and keeps book of it."""

    def __init__(self, book: Book, state: Callable[[], Inspector], chance: random.Random) -> None:
        self.book = book
        self._state = state
        self._chance = chance
        self._keys = 0

    def send(self) -> None:
        """Send one command."""
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

    def look(self, running: bool) -> None:
        """Note what the state knows by now."""
        if running:
            self.book.look(self._state())

    def is_settled(self) -> bool:
        """Tell whether every message has come to its end."""
        return self.book.is_settled(self._state())


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
        load = Commands(Book(client, OUT, chance), lives.state, chance)
        kills = Kills({"broker": kafka, **others}, lives, load, chance)
        try:
            kills.run(seconds)
            code = lives.stop()
            findings = load.book.audit(read_committed(servers, OUT), lives.state(), LANES)
        finally:
            lives.kill()
    _summary(kills, load.book, findings, code)
    return 1 if findings.faults() or code else 0


def _summary(kills: Kills, book: Book, findings: Findings, code: int) -> None:
    lines = {
        "scheduled": len(book.versions),
        "published": findings.published,
        **{f"kills of the {name}": count for name, count in kills.kills.items()},
        "ended by itself": len(kills.ended),
        "exit code at the end": code,
        "withdrawn in time": findings.withdrawn,
        **{name: len(getattr(findings, name)) for name in _FAULTS},
    }
    for name, value in lines.items():
        say(f"{name:<24}{value:>8}")
    for name, found in findings.faults().items():
        say(f"{name}: {found[:5]}")


if __name__ == "__main__":
    sys.exit(main())
