"""A note: a decision about one message, written in the transaction whose marker covers it.

The marker counts the message as out, so the decision that it is not must be on Kafka with it. The
note comes back as one more source of the query and closes exactly the version it names.
"""

import base64
import json
from collections.abc import Iterable

import pyarrow as pa

from pipeline.outbox.item import Item
from pipeline.outbox.refusal import Refusal
from state import row
from state.row import Status


def write_note(item: Item, refusal: Refusal, at: int) -> bytes:
    """Say that ``item`` is dead, and why."""
    version = item.version
    return json.dumps(
        {
            row.IDENTITY: base64.b64encode(item.identity).decode(),
            row.SOURCE_TOPIC: version.topic,
            row.SOURCE_PARTITION: version.partition,
            row.SOURCE_OFFSET: version.offset,
            row.SOURCE_TIMESTAMP: version.timestamp,
            row.STATUS: Status.DEAD,
            row.REASON: refusal.reason,
            row.DETAIL: refusal.detail,
            row.PUBLISHED_AT: at,
        }
    ).encode()


def read_notes(notes: Iterable[bytes]) -> pa.Table:
    """Return notes as outcomes."""
    lines = [json.loads(note) for note in notes]
    for line in lines:
        line[row.IDENTITY] = base64.b64decode(line[row.IDENTITY])
    return pa.Table.from_pylist(lines, schema=row.OUTCOMES)
