"""Reads one schedule of kafka-message-scheduler in Avro's binary encoding, without its schema.

The fields stand in this order: ``time`` (a long), ``topic`` (a string), ``key`` (bytes),
``value`` (null or bytes) and, in later versions, ``headers`` (a map of bytes). Confluent's
frame, a zero byte and the four of a schema id, may stand before them.
"""

from typing import NamedTuple

_FRAME = 5  # bytes
_LONGEST = 10  # bytes of a number
_LARGEST = 1 << 64


class Schedule(NamedTuple):
    """What a value holds."""

    time: int
    topic: str
    key: bytes
    value: bytes | None
    headers: list[tuple[str, bytes]]


class AvroError(ValueError):
    """The bytes are not a schedule; the message says what is wrong and where."""


def read_schedule(data: bytes) -> Schedule:
    """Return the schedule, or raise AvroError unless all bytes of ``data`` belong to it."""
    first, *others = _beginnings(data)
    try:
        return _read(data, first)
    except AvroError:
        for begin in others:
            try:
                return _read(data, begin)
            except AvroError:
                continue
        raise


def _beginnings(data: bytes) -> list[int]:
    """Return where the schedule may begin, the likelier place first.

    One due at 0 begins with a zero byte too, but then has the length of its topic.
    """
    if data[:1] != b"\0":
        return [0]
    return [_FRAME, 0] if data[1:2] == b"\0" else [0, _FRAME]


def _read(data: bytes, at: int) -> Schedule:
    time, at = _number(data, at, "time")
    topic, at = _text(data, at, "topic")
    key, at = _bytes(data, at, "key")
    branch, at = _number(data, at, "value")
    if branch not in (0, 1):
        raise AvroError(f"value is neither null nor bytes, before byte {at}")
    value = None
    if branch:
        value, at = _bytes(data, at, "value")
    headers: list[tuple[str, bytes]] = []
    if at < len(data):
        headers, at = _map(data, at)
    if at != len(data):
        raise AvroError(f"{len(data) - at} bytes are left behind the schedule")
    return Schedule(time, topic, key, value, headers)


def _map(data: bytes, at: int) -> tuple[list[tuple[str, bytes]], int]:
    """Read blocks of entries up to the one that has none; the size of a block is not needed."""
    found: list[tuple[str, bytes]] = []
    while True:
        count, at = _number(data, at, "headers")
        if count == 0:
            return found, at
        if count < 0:
            _, at = _number(data, at, "headers")
        for _ in range(abs(count)):
            name, at = _text(data, at, "headers")
            value, at = _bytes(data, at, "headers")
            found.append((name, value))


def _text(data: bytes, at: int, name: str) -> tuple[str, int]:
    found, behind = _bytes(data, at, name)
    try:
        return found.decode(), behind
    except UnicodeDecodeError as error:
        raise AvroError(f"{name} is not UTF-8, before byte {behind}") from error


def _bytes(data: bytes, at: int, name: str) -> tuple[bytes, int]:
    size, begin = _number(data, at, name)
    end = begin + size
    if size < 0 or end > len(data):
        raise AvroError(f"{name} would have {size} bytes, of {len(data) - begin} that are left")
    return data[begin:end], end


def _number(data: bytes, at: int, name: str) -> tuple[int, int]:
    """Read seven bits of each byte, the lowest first; the last byte has no highest bit."""
    total = shift = 0
    for end, byte in enumerate(data[at : at + _LONGEST], at + 1):
        total |= (byte & 0x7F) << shift
        if byte < 0x80:
            if total >= _LARGEST:
                break
            return (total >> 1) ^ -(total & 1), end
        shift += 7
    raise AvroError(f"{name} has no number at byte {at}")
