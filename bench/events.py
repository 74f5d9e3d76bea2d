"""The events of the benchmark: binary CloudEvents with number and due instant in the payload.

Both stand in front, eight bytes each, so that an observer reads thousands at once. The rest is
random: bytes on disk are not to be compressed away.
"""

import struct
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

PAYLOAD_BYTES = 200
HEAD = struct.Struct("<qq")  # number, due instant in milliseconds
FILLER_BYTES = PAYLOAD_BYTES - HEAD.size

Ints = npt.NDArray[np.int64]
Headers = list[tuple[str, bytes]]
Record = tuple[bytes, bytes, Headers]

_SOME = bytes(range(FILLER_BYTES))


def key_of(number: int) -> bytes:
    """Return the key; all of them have the same length."""
    return b"key-%010d" % number


def record(number: int, due_ms: int, topic: str, key: int | None = None) -> Record:
    """Return key, value and headers of the event with this number; ``key``: of another one."""
    due = np.datetime_as_string(np.datetime64(due_ms, "ms"), timezone="UTC")
    value = HEAD.pack(number, due_ms) + _SOME
    return key_of(number if key is None else key), value, headers(number, due, topic.encode())


def records(
    numbers: Ints, dues: Ints, keys: Ints, topic: str, chance: np.random.Generator
) -> Iterator[Record]:
    """Return many events, with payloads that are random but for their beginning."""
    filler = chance.bytes(FILLER_BYTES * len(numbers))
    texts = np.datetime_as_string(dues.astype("datetime64[ms]"), timezone="UTC")
    each = zip(numbers.tolist(), dues.tolist(), keys.tolist(), texts.tolist(), strict=True)
    to = topic.encode()
    for place, (number, due, key, text) in enumerate(each):
        rest = filler[place * FILLER_BYTES : (place + 1) * FILLER_BYTES]
        yield key_of(key), HEAD.pack(number, due) + rest, headers(number, text, to)


def headers(number: int, due: str, topic: bytes) -> Headers:
    """Return the attributes of an event."""
    return [
        ("ce_specversion", b"1.0"),
        ("ce_id", b"%d" % number),
        ("ce_source", b"/bench"),
        ("ce_type", b"bench"),
        ("ce_outputtopic", topic),
        ("ce_deliverat", due.encode()),
    ]


def keeping(said: Headers) -> Headers:
    """Add a policy: the event is ignored while another one of its key is pending."""
    return [*said, ("ce_onsameid", b"keep")]


def read(value: bytes) -> tuple[int, int]:
    """Return number and due instant (milliseconds) of a published payload."""
    number, due = HEAD.unpack_from(value)
    return number, due


def read_all(values: Sequence[bytes]) -> tuple[Ints, Ints]:
    """Return numbers and due instants of many payloads."""
    heads = np.frombuffer(b"".join(value[: HEAD.size] for value in values), "<i8")
    return heads[::2], heads[1::2]
