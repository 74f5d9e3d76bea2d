"""Builds what a store is told, in few words; instants are seconds after a fixed one."""

import json
import zlib
from typing import Any

import pyarrow as pa

from state.claims import Room
from state.pausing import Paused
from state.row import COMMANDS, OF_COMMAND, OUTCOMES, PARKED, Entry, Kind
from state.store import Store, Tick

SECOND = 1_000_000
START = 1_800_000_000 * SECOND
TOPIC = "in"
A, B, C = b"a", b"b", b"c"
_PLACE = ("partition", "stamp", "occurrence")


def at(seconds: float) -> int:
    return START + round(seconds * SECOND)


def identity_of(key: bytes | None, topic: str = TOPIC) -> bytes:
    return topic.encode() + b"\0" + (key or b"")


def version(
    key: bytes | None,
    offset: int,
    partition: int = 0,
    stamp: float | None = None,
    occurrence: int = 0,
) -> dict[str, Any]:
    return {
        "identity": identity_of(key),
        "source_topic": TOPIC,
        "source_partition": partition,
        "source_offset": offset,
        "source_timestamp": at(offset if stamp is None else stamp),
        "occurrence": occurrence,
    }


def put(key: bytes, offset: int, due: float, **more: Any) -> dict[str, Any]:
    coordinates = {name: more.pop(name) for name in ("partition", "stamp") if name in more}
    return {
        "entry": Entry.PUT.value,
        **version(key, offset, **coordinates),
        "hash": zlib.crc32(identity_of(key)),
        "key": key,
        "kind": Kind.MESSAGE.value,
        "output_topic": "out",
        "output_key": key,
        "payload": b"payload of " + key + b" at %d" % offset,
        "headers": [],
        "due": at(due),
        "superseded": 0,
        **more,
    }


def cancel(key: bytes, offset: int, **more: Any) -> dict[str, Any]:
    line = put(key, offset, 0, **more)
    return line | {"entry": Entry.CANCEL.value, "payload": None, "due": None, "output_topic": None}


def reject(offset: int, **more: Any) -> dict[str, Any]:
    line = put(b"refused %d" % offset, offset, 0, **more)
    line |= {"entry": Entry.REJECT.value, "kind": Kind.REJECTION.value, "due": None}
    return line | {"output_topic": "dead", "reason": "bad_time", "detail": "no offset in the time"}


def ignored(key: bytes, offset: int, reason: str = "kept_first", **more: Any) -> dict[str, Any]:
    return put(key, offset, 9, **more) | {"entry": Entry.IGNORED.value, "reason": reason}


def order(offset: int, about: bytes | None = None, **more: Any) -> dict[str, Any]:
    line = put(b"order %d" % offset, offset, 0) | {"output_topic": None, "payload": None}
    line |= {"entry": Entry.COMMAND.value, "kind": Kind.COMMAND.value, "due": None}
    line |= {"occurrence": OF_COMMAND}
    return line | {"key": about, "reason": "paused", "detail": '{"by":"me"}', **more}


def outcome(key: bytes, offset: int, status: str, **more: Any) -> dict[str, Any]:
    coordinates = {name: more.pop(name) for name in _PLACE if name in more}
    due = more.pop("due", None)
    return {
        **version(key, offset, **coordinates),
        "status": status,
        "due": due if due is None or due >= PARKED else at(due),
        **more,
    }


def receipt(partition: int = 3, offset: int = 77, seconds: float = 1) -> dict[str, int]:
    return {
        "published_partition": partition,
        "published_offset": offset,
        "published_at": at(seconds),
    }


def tick(
    batch: int,
    now: float = 0,
    commands: list[dict[str, Any]] | None = None,
    outcomes: list[dict[str, Any]] | None = None,
    until: float = -1,
    limit: int | Room = 1000,
    miss_after: float = 30,
    paused: Paused | None = None,
    may_until: float | None = None,
) -> Tick:
    return Tick(
        batch=batch,
        now=at(now),
        commands=pa.Table.from_pylist(commands or [], schema=COMMANDS),
        outcomes=pa.Table.from_pylist(outcomes or [], schema=OUTCOMES),
        claim_until=at(until),
        room=limit if isinstance(limit, Room) else Room((limit,)),
        miss_after=round(miss_after * SECOND),
        paused=paused,
        may_claim_until=None if may_until is None else at(may_until),
    )


def carried_out(store: Store, said: Tick) -> pa.Table:
    """Commit, and wait until the store has done all of it: the next question would."""
    claims = store.commit(said)
    store.unsettled()
    return claims


def every(seconds: float, first: float, **more: Any) -> str:
    """Return the policy of a message that repeats; ``until`` is in seconds, as ``first`` is."""
    until = {"until": at(more.pop("until"))} if "until" in more else {}
    repeat = {"every": round(seconds * SECOND), "anchor": at(first), **until, **more}
    return json.dumps({"repeat": repeat})


def settled(*outcomes: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(outcomes), schema=OUTCOMES)


def names(rows: pa.Table) -> list[tuple[bytes, int]]:
    """Return key and offset of each row."""
    keys, offsets = rows.column("key").to_pylist(), rows.column("source_offset").to_pylist()
    return list(zip(keys, offsets, strict=True))


def numbers(rows: pa.Table) -> list[tuple[bytes, int]]:
    """Return key and occurrence of each row."""
    keys, occurrences = rows.column("key").to_pylist(), rows.column("occurrence").to_pylist()
    return list(zip(keys, occurrences, strict=True))
