"""A mixture of all that other schedulers are asked for, and what must come out of it."""

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.foreign import (
    DIALECTS,
    FRAME,
    SPEAKERS,
    Out,
    Post,
    Sent,
    Spoken,
    Wanted,
    expected,
    kms_avro,
    kms_json,
    mongo,
)

HOUR = 3_600_000  # milliseconds
PARTITIONS = 3
_IN_HEADERS = ("etf1", "karafka")
_GARBAGE = Spoken(b"\xff garbage")


@dataclass(frozen=True, slots=True)
class Step:
    """One record to send; ``wanted`` if its message must come out."""

    dialect: str
    key: bytes
    spoken: Spoken
    wanted: Wanted | None = None


@dataclass
class Mixture:
    """Draws up records in two parts, the second to be sent while no job runs, and sends them."""

    post: Post
    inputs: Mapping[str, str]
    outs: tuple[str, str]
    chance: random.Random
    count: int = 0  # messages that must come out, of each dialect
    asked: list[tuple[Step, Sent]] = field(default_factory=list)
    accepted: int = 0
    overtaken: int = 0
    cancelled: int = 0
    garbage: int = 0

    def parts(self, start: int) -> tuple[list[Step], list[Step]]:
        """Return both parts; the first messages are due at ``start``."""
        first: list[Step] = []
        second: list[Step] = []
        for number in range(self.count):
            for dialect in DIALECTS:
                later = self.chance.random() < 0.25
                early, last = self._steps(dialect, number, start)
                first += early
                (second if later else first).extend(last)
        return first, second

    def send(self, steps: list[Step]) -> None:
        """Send records, in order, and keep book of what must come out."""
        for step in steps:
            now = time.time_ns() // 1_000_000
            sent = self.post.send(self.inputs[step.dialect], step.key, step.spoken, now)
            if step.wanted is not None:
                self.asked.append((step, sent))
        self.post.flush()

    def expected(self) -> Iterator[tuple[Out, Wanted]]:
        """Yield what must come out, each message once."""
        for step, sent in self.asked:
            assert step.wanted is not None
            yield expected(step.dialect, step.wanted, sent), step.wanted

    def _steps(self, dialect: str, number: int, start: int) -> tuple[list[Step], list[Step]]:
        """Return what is sent of one message, and what of it may as well come later.

        One in ten takes the place of another, one in ten comes with one that is cancelled, and a
        few keys have garbage between.
        """
        key = f"{dialect}/{number}".encode()
        wanted = self._wanted(dialect, number, start)
        early: list[Step] = []
        last = [Step(dialect, key, self._spoken(dialect, wanted), wanted)]
        self.accepted += 1
        if number % 10 == 1:
            early.append(self._never(dialect, key, start))
            self.overtaken += 1
        if number % 200 == 1:
            early.append(Step(dialect, key, _GARBAGE))
            self.garbage += 1
        if number % 10 == 2:
            gone = b"gone/" + key
            early.append(self._never(dialect, gone, start))
            last.append(Step(dialect, gone, Spoken(None)))
            self.cancelled += 1
        return early, last

    def _never(self, dialect: str, key: bytes, start: int) -> Step:
        """Return a record whose message never comes out: it is withdrawn long before."""
        self.accepted += 1
        wanted = Wanted(self.outs[0], start + HOUR, b"never", b"never")
        return Step(dialect, key, SPEAKERS[dialect](wanted))

    def _wanted(self, dialect: str, number: int, start: int) -> Wanted:
        chance, is_mongo = self.chance, dialect == "cloudevents-mongo"
        due = start + self._delay()
        key, value = self._content(dialect, number)
        count = 0 if is_mongo else chance.randrange(3)
        return Wanted(
            topic=self.outs[0] if is_mongo else chance.choice(self.outs),
            due=due // 1000 * 1000 if dialect in _IN_HEADERS else due,
            key=key,
            value=value,
            headers=tuple((f"h{n}", chance.randbytes(n * 5)) for n in range(count)),
            partition=chance.randrange(PARTITIONS)
            if dialect == "karafka" and number % 5 == 0
            else None,
        )

    def _content(self, dialect: str, number: int) -> tuple[bytes | None, bytes | None]:
        """Return key and value; one in twenty has no key, one in twenty no value."""
        name, noise = f"{dialect}/{number}".encode(), self.chance.randbytes(24)
        value = name + (noise.hex().encode() if dialect == "cloudevents-mongo" else noise)
        if number % 20 == 3:
            return b"" if dialect.startswith("kms") else None, value
        if number % 20 == 4:
            return name, b"" if dialect in _IN_HEADERS else None
        return f"key-{self.chance.randrange(50)}".encode(), value

    def _delay(self) -> int:
        """Return when a message is due after the first: most soon, one in ten much later."""
        much_later = self.chance.random() < 0.1
        return (
            self.chance.randrange(30_000, 36_000) if much_later else self.chance.randrange(20_000)
        )

    def _spoken(self, dialect: str, wanted: Wanted) -> Spoken:
        """Write the record in one of the ways that its dialect has."""
        lot = self.chance.random() < 0.5
        if dialect == "kms-avro":
            fields = 4 if not wanted.headers and self.chance.random() < 0.5 else 5
            return kms_avro(wanted, fields, FRAME if lot else b"")
        if dialect == "kms-json":
            return kms_json(wanted, in_full=lot)
        if dialect == "cloudevents-mongo":
            return mongo(wanted, in_seconds=lot)
        return SPEAKERS[dialect](wanted)
