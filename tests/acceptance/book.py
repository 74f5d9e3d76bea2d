"""Keeps book of what was asked for, and holds it against what came out and what the state says."""

import itertools
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime

from confluent_kafka import Message

from pipeline.client import Client, Repeat
from state import row
from state.inspect import Filter, Inspector
from state.row import Status


@dataclass(slots=True)
class Version:
    """One message that was scheduled."""

    key: str
    payload: bytes
    due: int  # milliseconds, so that the broker's time can be compared with it
    overtaken: bool = False  # a newer command for its key was sent
    known_by: float = math.inf  # when it was seen to be in the state
    gone_by: float = math.inf  # when it was seen to be replaced or cancelled


@dataclass(slots=True)
class Findings:
    """What an audit found; all but the first two must be empty."""

    published: int = 0
    withdrawn: int = 0  # seen to be replaced or cancelled before their instant
    lost: list[bytes] = field(default_factory=list)
    twice: list[bytes] = field(default_factory=list)
    early: list[bytes] = field(default_factory=list)
    unwanted: list[bytes] = field(default_factory=list)  # replaced or cancelled, and yet out
    unknown: list[bytes] = field(default_factory=list)  # never asked for, or with other bytes
    disordered: list[bytes] = field(default_factory=list)
    miscounted: list[str] = field(default_factory=list)
    broken_series: list[str] = field(default_factory=list)  # an occurrence early, lost or twice

    def faults(self) -> dict[str, list]:
        """Return what must not be, by name."""
        named = {each.name: getattr(self, each.name) for each in fields(self)[2:]}
        return {name: found for name, found in named.items() if found}


@dataclass(frozen=True, slots=True)
class Series:
    """One message that repeats."""

    payload: bytes
    first: int  # milliseconds
    every: int
    count: int


class Book:
    """Sends commands and remembers them."""

    def __init__(self, client: Client, topic: str, chance: random.Random) -> None:
        self._client = client
        self._topic = topic
        self._chance = chance
        self._numbers = itertools.count()
        self.current: dict[str, Version | None] = {}  # by key; None: cancelled
        self.versions: list[Version] = []
        self.series: dict[bytes, Series] = {}

    def repeat(self, key: str, seconds: float, every_ms: int, count: int) -> None:
        """Schedule a message that repeats; occurrences missed while the job is down count too."""
        first = int((time.time() + seconds) * 1000)
        payload = f"series/{key}/{next(self._numbers)}".encode()
        self._client.schedule(
            payload,
            topic=self._topic,
            key=key,
            at=datetime.fromtimestamp(first / 1000, UTC),
            repeat=Repeat(every=f"{every_ms}ms", count=count, on_miss="all"),
            wait=False,
        )
        self.series[payload] = Series(payload, first, every_ms, count)

    @property
    def expected(self) -> int:
        """How many messages were asked for, each occurrence one."""
        return len(self.versions) + sum(series.count for series in self.series.values())

    def put(self, key: str, seconds: float) -> None:
        """Schedule a message under ``key``; it takes the place of what is pending there."""
        self._overtake(key)
        due = int((time.time() + seconds) * 1000)
        payload = f"{key}/{next(self._numbers)}/".encode() + self._chance.randbytes(20)
        at = datetime.fromtimestamp(due / 1000, UTC)
        self._client.schedule(payload, topic=self._topic, key=key, at=at, wait=False)
        self.current[key] = Version(key, payload, due)
        self.versions.append(self.current[key])

    def cancel(self, key: str) -> None:
        """Withdraw what is pending under ``key``."""
        self._overtake(key)
        self._client.cancel(key, wait=False)
        self.current[key] = None

    def flush(self) -> None:
        """Wait until Kafka has it all."""
        self._client.flush()

    def some(self, count: int, least: float, most: float) -> list[str]:
        """Choose keys whose message is due in ``least`` to ``most`` seconds."""
        now = time.time() * 1000
        found = [
            version.key
            for version in self.current.values()
            if version is not None and least <= (version.due - now) / 1000 <= most
        ]
        return self._chance.sample(found, min(count, len(found)))

    def look(self, state: Inspector) -> None:
        """Note which messages the state knows by now, and which of them it knows as withdrawn."""
        lines = state.rows(Filter()).select([row.PAYLOAD, row.STATUS]).to_pylist()
        told = {line[row.PAYLOAD]: line[row.STATUS] for line in lines}
        now = time.time() * 1000
        for version in self.versions:
            status = told.get(version.payload)
            if status is not None:
                version.known_by = min(version.known_by, now)
            if status in (Status.REPLACED, Status.CANCELLED):
                version.gone_by = min(version.gone_by, now)

    def is_settled(self, state: Inspector) -> bool:
        """Tell whether every message has come to its end."""
        ledger = state.stats(_now()).ledger
        standing = ledger.ends[Status.PENDING] + ledger.ends[Status.CLAIMED]
        return ledger.accepted == self.expected and standing == 0

    def audit(self, messages: list[Message], state: Inspector, lanes: int) -> Findings:
        """Hold the output and the state against what was asked for, and against each other."""
        repeated = [message for message in messages if message.value() in self.series]
        messages = [message for message in messages if message.value() not in self.series]
        asked = {version.payload: version for version in self.versions}
        rows = state.rows(Filter()).select([row.PAYLOAD, row.STATUS, row.HASH]).to_pylist()
        told = {line[row.PAYLOAD]: line for line in rows}
        times = Counter(message.value() for message in messages)
        found = Findings(published=len(messages))
        found.unknown = [payload for payload in times if payload not in asked]
        found.twice = [payload for payload, count in times.items() if count > 1]
        known = [message for message in messages if message.value() in asked]
        found.early = [m.value() for m in known if m.timestamp()[1] < asked[m.value()].due]
        for version in self.versions:
            _judge(version, version.payload in times, told, found)
        lane_of = {payload: line[row.HASH] % lanes for payload, line in told.items()}
        found.disordered = list(_disordered(known, asked, lane_of))
        found.miscounted = list(self._miscounted(state))
        found.broken_series = list(self._broken_series(repeated))
        return found

    def _broken_series(self, messages: list[Message]) -> Iterator[str]:
        seen: dict[bytes, list[int]] = {payload: [] for payload in self.series}
        for message in messages:
            series = self.series[message.value()]
            number = int(dict(message.headers())["duestream-occurrence"])
            seen[series.payload].append(number)
            if message.timestamp()[1] < series.first + series.every * (number - 1):
                yield f"{series.payload!r}: occurrence {number} is early"
        for payload, numbers in seen.items():
            if sorted(numbers) != list(range(1, self.series[payload].count + 1)):
                yield f"{payload!r}: {sorted(numbers)} of {self.series[payload].count}"

    def _miscounted(self, state: Inspector) -> Iterator[str]:
        ledger = state.stats(_now()).ledger
        if ledger.difference:
            yield f"the ledger has a difference of {ledger.difference}"
        if ledger.accepted != self.expected:
            yield f"{ledger.accepted} accepted of {self.expected} sent"
        if ledger.rejected:
            yield f"{ledger.rejected} rejected"

    def _overtake(self, key: str) -> None:
        version = self.current.get(key)
        if version is not None:
            version.overtaken = True


def _judge(version: Version, out: bool, told: dict[bytes, dict], found: Findings) -> None:
    """Compare one message with its fate in the state; one replaced at once may have no row."""
    status = told[version.payload][row.STATUS] if version.payload in told else Status.REPLACED
    if not out and (status == Status.DONE or not version.overtaken):
        found.lost.append(version.payload)
    if out and status != Status.DONE:
        found.unwanted.append(version.payload)
    if version.gone_by < version.due:
        found.withdrawn += 1
        if out:
            found.unwanted.append(version.payload)


def _disordered(
    messages: Iterable[Message], asked: dict[bytes, Version], lane_of: dict[bytes, int]
) -> Iterator[bytes]:
    """Yield what went out after a message due later, though it was known before its instant."""
    lines: dict[tuple[int, int], list[Message]] = defaultdict(list)
    for message in sorted(messages, key=lambda m: m.offset()):
        lines[lane_of.get(message.value(), -1), message.partition()].append(message)
    for line in lines.values():
        latest = 0
        for message in line:
            version = asked[message.value()]
            if version.due < latest and version.known_by < version.due:
                yield version.payload
            latest = max(latest, version.due)


def _now() -> int:
    return time.time_ns() // 1000
