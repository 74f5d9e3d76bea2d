"""One record, ready to be produced."""

from typing import NamedTuple

from pipeline.outbox.headers import Headers
from pipeline.outbox.item import BY_KEY, HEADER_BYTES, RECORD_BYTES

OMITTED = "duestream-value-omitted"  # where a topic takes no record so large: what it has not


# What a record has, in the order of its names.
Fields = tuple[str, bytes | None, bytes | None, Headers | None, int]


class Record(NamedTuple):
    """One record to produce."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers | None
    partition: int = BY_KEY

    @property
    def size(self) -> int:
        """The bytes of the record, with what Kafka adds to a batch of one."""
        named = sum(len(k) + len(v or b"") + HEADER_BYTES for k, v in self.headers or ())
        return len(self.value or b"") + len(self.key or b"") + named + RECORD_BYTES
