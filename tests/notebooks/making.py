"""Makes a state that has seen something of everything: the same on every store."""

import json
import zlib
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipeline.clock import now_micros
from pipeline.deadletter import dead_letter_headers
from pipeline.identity import rejection_identity
from state.claims import Room
from state.inspect import Inspector
from state.row import COMMANDS, OUTCOMES, PARKED_ALONE, Entry, Kind
from state.store import Store, Tick
from state.version import Version

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
SOURCE = "schedules.in"
TOPICS = ("orders", "reminders", "invoices")
DONE = 240
NEAR = 30  # pending, one every two minutes from now on
FAR = 20  # pending, one every 70 minutes from in two hours on
REFUSED = 4
REPEATED = "standup"
MOVED = "order-7"


class Maker:
    """Says to a store what a job would have said in the last two hours."""

    def __init__(self, store: Store, source: str = SOURCE) -> None:
        self.now = now_micros() // HOUR * HOUR + 30 * MINUTE  # the middle of an hour
        self.source = source
        self.store = store
        self.batch = -1
        self.offset = -1

    def at(self, minutes: float) -> int:
        return self.now + round(minutes * MINUTE)

    def make(self) -> None:
        """Two hours of life: what went out, what was refused, what is yet to come."""
        out = [self.put(f"done-{n:03}", TOPICS[n % 2], self.at(-60 + n / 4)) for n in range(DONE)]
        first = self.put(MOVED, "orders", self.at(90))
        dead = [self.put(f"dead-{n}", "no-such-topic", self.at(-50)) for n in range(3)]
        gone = self.put("cancelled", "orders", self.at(95))
        self.tick(-110, [*out, first, *dead, gone])
        self.tick(-100, [self.put(MOVED, "orders", self.at(120)), self.cancel("cancelled")])
        self.tick(-62, claim_until=self.at(0) - 1)
        self.tick(-30, outcomes=[self.done(n, row) for n, row in enumerate(out[:120])])
        self.tick(-20, [self.reject(n) for n in range(REFUSED)], claim_until=self.at(-20))
        letters = [self.ended(row, published_at=self.at(-19)) for row in self.refused]
        missing = [self.ended(row, reason="unknown_topic", detail="no such topic") for row in dead]
        self.tick(-10, outcomes=[*letters, *missing])
        self.tick(-1, outcomes=[self.done(120 + n, row) for n, row in enumerate(out[120:])])
        self.tick(-0.5, self.coming())
        held = self.put("held", "invoices", self.at(10))
        self.tick(-0.4, [held])
        self.tick(-0.3, outcomes=[self.version(held) | {"status": "pending", "due": PARKED_ALONE}])

    def coming(self) -> list[dict[str, Any]]:
        near = [self.put(f"near-{n:02}", TOPICS[n % 3], self.at(1 + 2 * n)) for n in range(NEAR)]
        far = [self.put(f"far-{n:02}", TOPICS[n % 3], self.at(120 + 70 * n)) for n in range(FAR)]
        first = self.at(5)
        series = {"every": 10 * MINUTE, "count": 1_000, "anchor": first}
        repeat = self.put(REPEATED, "reminders", first, policy=json.dumps({"repeat": series}))
        midnight = {"cron": "0 0 * * *", "anchor": self.at(7 * 24 * 60)}
        nightly = json.dumps({"repeat": midnight})
        return [*near, *far, repeat, self.put("nightly", "reminders", midnight["anchor"], nightly)]

    def tick(
        self,
        minutes: float,
        commands: list[dict[str, Any]] | None = None,
        outcomes: list[dict[str, Any]] | None = None,
        claim_until: int = 0,
    ) -> None:
        self.batch += 1
        said = pa.Table.from_pylist(commands or [], schema=COMMANDS)
        ends = pa.Table.from_pylist(outcomes or [], schema=OUTCOMES)
        self.store.commit(
            Tick(self.batch, self.at(minutes), said, ends, claim_until, Room((10_000,)))
        )

    def put(self, key: str, topic: str, due: int, policy: str | None = None) -> dict[str, Any]:
        self.offset += 1
        identity = f"{self.source}\0{key}".encode()
        return {
            "entry": Entry.PUT.value,
            "identity": identity,
            "hash": zlib.crc32(identity),
            "source_topic": self.source,
            "source_partition": 0,
            "source_offset": self.offset,
            "source_timestamp": self.at(-115) + self.offset,
            "key": key.encode(),
            "kind": Kind.MESSAGE.value,
            "output_topic": topic,
            "output_key": key.encode(),
            "payload": f"the message of {key}".encode(),
            "headers": [],
            "due": due,
            "policy": policy,
            "superseded": 0,
        }

    def cancel(self, key: str) -> dict[str, Any]:
        nothing = {"entry": Entry.CANCEL.value, "payload": None, "output_topic": None, "due": None}
        return self.put(key, "", 0) | nothing

    def reject(self, n: int) -> dict[str, Any]:
        line = self.put(f"refused-{n}", "dead-letters", self.at(-21))
        place = Version(self.source, 0, line["source_offset"], line["source_timestamp"])
        identity = rejection_identity(place)
        why = ("invalid_json", "the value is no JSON") if n else ("invalid_time", "no offset")
        headers = [{"key": k, "value": v} for k, v in dead_letter_headers(*why, place)]
        line |= {"entry": Entry.REJECT.value, "kind": Kind.REJECTION.value, "headers": headers}
        line |= {"identity": identity, "hash": zlib.crc32(identity)}
        line |= {"reason": why[0], "detail": why[1], "payload": b"{ this is no event"}
        self.refused = [*getattr(self, "refused", []), line]
        return line

    def version(self, line: dict[str, Any]) -> dict[str, Any]:
        named = ("identity", "source_topic", "source_partition", "source_offset")
        return {name: line[name] for name in (*named, "source_timestamp")} | {"occurrence": 0}

    def ended(self, line: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self.version(line) | {"status": "dead", "attempt": 0, **more}

    def done(self, n: int, line: dict[str, Any]) -> dict[str, Any]:
        receipt = {"published_partition": n % 2, "published_offset": n}
        late = (10 + n) * 1_000  # milliseconds: from 10 to 249
        receipt |= {"published_at": line["due"] + late}
        return self.version(line) | {"status": "done", "attempt": 0, **receipt}


@dataclass(frozen=True)
class Made:
    """A state, what made it, and the variables by which programs find it."""

    kind: str
    maker: Maker
    inspector: Inspector
    variables: dict[str, str]
