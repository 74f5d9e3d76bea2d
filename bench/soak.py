"""Lets a job run for hours under a mixed load, with kills and restarts: ``make soak HOURS=1``.

``python -m bench.soak --hours 0.1 --store delta --seed 7``. Job, broker and database are killed at
random, from the seed. Every ten seconds a sample is taken from outside (bench.soak_sample). What
is closed is forgotten soon, and files are dropped soon, so that levelling off can be seen in the
time. In the end every message is accounted for (bench.soak_audit), and whatever rises in the last
half is named (bench.soak_verdict). Samples, plot and verdict are in build/soak. Ends with 1 on a
fault, or if something grows.
"""

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path

from bench.machine import commit, machine, versions
from bench.soak_audit import Account, account
from bench.soak_lives import HeldLives
from bench.soak_load import SoakLoad
from bench.soak_plot import draw_soak
from bench.soak_report import markdown
from bench.soak_sample import Sampler
from bench.soak_verdict import Trend, verdict
from pipeline.client import Client
from pipeline.leashed import Leashed
from pipeline.local_kafka import LocalKafka
from pipeline.local_mongo import LocalMongo
from state.errors import DuestreamError
from state.inspect import Status, now_micros
from tests.acceptance.lives import in_delta, in_mongo, wait_for
from tests.kills import Kills, Pace, Server, say
from tests.reading import read_committed

SOURCE, OUT = "soak-in", "soak-out"
PARTITIONS = 2
EVERY = 10.0  # seconds from one sample to the next
# Short, so that whatever is kept for a while reaches the size it stays at.
KEEP = {"keep_closed": "60s"}
FOLDS = {"fold_age": "10s", "fold_rows": 20_000, "vacuum_age": "60s"}


@dataclass
class Soak:
    """What one soak has to do with: its load, its samples, and who was killed when."""

    load: SoakLoad
    sampler: Sampler
    lives: HeldLives
    begun: float | None = None
    kills: list[tuple[float, str]] = field(default_factory=list)

    def send(self) -> None:
        """Send what is to be sent by now; the time begins with the first call."""
        if self.begun is None:
            self.begun = self.load.begun = self.sampler.begun = time.monotonic()
        self.load.send()

    def look(self, running: bool) -> None:
        """Take a sample and say how it goes."""
        sample = self.sampler.take(running)
        told = {name: value for name, value in sample.items() if value is not None}
        shown = ("pending", "published", "tick_p50_ms", "late_p99_ms", "python_mb", "jvm_mb")
        say(", ".join(f"{n} {told[n]:,.0f}" for n in (*shown, "files") if n in told))

    def is_settled(self) -> bool:
        """Tell whether every message has come to its end; not while nobody can tell."""
        try:
            ledger = self.lives.state().stats(now_micros()).ledger
        except (DuestreamError, OSError) as failure:
            say(f"the state does not answer: {failure}")
            return False
        standing = ledger.ends[Status.PENDING] + ledger.ends[Status.CLAIMED]
        return ledger.accepted == self.load.asked.accepted and standing == 0

    def note(self, who: str) -> None:
        """Note that somebody is killed right now."""
        self.kills.append((time.monotonic() - (self.begun or 0.0), who))


def pace(seconds: float) -> Pace:
    """Return how often to kill: a few times each, and lives long enough to see one grow."""
    servers = (_within(40, seconds * 0.12, 600), _within(90, seconds * 0.25, 1200))
    life = (_within(60, seconds * 0.15, 600), _within(120, seconds * 0.35, 1200))
    return Pace(servers=servers, life=life, at_start=0.1, look=EVERY, up_first=True)


def _within(least: float, wanted: float, most: float) -> float:
    return min(max(least, wanted), most)


def soak(
    folder: Path,
    kafka: LocalKafka,
    servers: Mapping[str, Server],
    state: Mapping[str, object],
    state_folder: Path,
    given: argparse.Namespace,
) -> tuple[Soak, Kills, Account]:
    """Run the load with its kills, and account for it."""
    seconds, chance = given.hours * 3600, random.Random(given.seed)
    kafka.create_topics([SOURCE, OUT], PARTITIONS, {"message.timestamp.type": "LogAppendTime"})
    lives = HeldLives(folder, kafka.bootstrap_servers, (SOURCE, OUT), state)
    observer = _observe(folder, kafka.bootstrap_servers)
    options, patience = {"log_level": 0}, timedelta(minutes=5)
    try:
        with Client(
            kafka.bootstrap_servers, topic=SOURCE, options=options, timeout=patience
        ) as client:
            load = SoakLoad(client, OUT, given.rate, chance)
            sampler = Sampler(folder, state_folder, lambda: lives.pid, lives.state)
            run = Soak(load, sampler, lives)
            kills = Kills(servers, lives, run, chance, pace(seconds), run.note)
            try:
                kills.run(seconds)
            except AssertionError as stuck:  # what is missing then shows in the account
                say(f"not all came to its end: {stuck}")
        if lives.stop():
            kills.ended.append("it did not stop in time, and was killed")
        _await_observer(folder / "caught_up")
        ledger = lives.state().stats(now_micros()).ledger
        dead = len(read_committed(kafka.bootstrap_servers, f"{SOURCE}.dead"))
        return run, kills, account(load.asked, sampler.seen(), ledger, dead)
    finally:
        lives.kill()
        observer.end("kill")


def _observe(folder: Path, servers: str) -> Leashed:
    plan = {
        "servers": servers,
        "output": OUT,
        "partitions": PARTITIONS,
        "seen": str(folder / "seen.bin"),
        "caught_up": str(folder / "caught_up"),
    }
    (folder / "observer.json").write_text(json.dumps(plan))
    command = [sys.executable, "-m", "bench.soak_observer", str(folder / "observer.json")]
    return Leashed(command, folder / "observer.log")


def _await_observer(caught_up: Path) -> None:
    """Wait until the observer has seen the end of the topic as it is from now on."""
    now = time.time() + 1.0  # the end it knows may be that of a second ago
    wait_for(
        lambda: caught_up.exists() and float(caught_up.read_text() or 0) > now, "the observer", 120
    )


def main() -> int:
    """Run as the arguments say; return the exit code."""
    wanted = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    wanted.add_argument("--hours", type=float, default=1.0)
    wanted.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    wanted.add_argument("--store", choices=["delta", "mongo"], default="delta")
    wanted.add_argument("--rate", type=float, default=100.0, help="events a second")
    wanted.add_argument("--out", type=Path, default=Path("build/soak"))
    given = wanted.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that all is ended then too
    say(f"seed {given.seed}, {given.hours:g} hours, {given.rate:g} a second, {given.store}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="duestream-soak-")))
        kafka = stack.enter_context(LocalKafka())
        if given.store == "delta":
            state = in_delta(folder, **FOLDS) | KEEP
            found = soak(folder, kafka, {"broker": kafka}, state, folder / "state", given)
        else:
            mongo = stack.enter_context(LocalMongo())
            state = in_mongo(mongo.uri, "soak", timeout="3s") | KEEP
            both = {"broker": kafka, "database": mongo}
            found = soak(folder, kafka, both, state, mongo.data, given)
    return _tell(given, *found)


def _tell(given: argparse.Namespace, run: Soak, kills: Kills, found: Account) -> int:
    trends = verdict(run.sampler.samples, given.hours * 3600, given.store)
    name = f"soak-{given.store}"
    draw_soak(run.sampler.samples, run.kills, given.out / f"{name}.png")
    text = markdown(given, kills, found, trends)
    (given.out / f"{name}.md").write_text(text)
    written = {
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "hours": given.hours,
        "seed": given.seed,
        "rate": given.rate,
        "store": given.store,
        "account": asdict(found),
        "killed": kills.kills,
        "ended_by_itself": kills.ended,
        "trends": {n: asdict(t) | {"verdict": t.said} for n, t in trends.items()},
        "kills": run.kills,
        "samples": run.sampler.samples,
    }
    (given.out / f"{name}.json").write_text(json.dumps(written, indent=1) + "\n")
    sys.stdout.write(text)
    return int(bool(found.faults()) or _grows(trends))


def _grows(trends: Mapping[str, Trend]) -> bool:
    return any(each.grows for each in trends.values())


if __name__ == "__main__":
    sys.exit(main())
