"""A note: a decision about one message, written in the transaction whose marker covers it.

The marker counts the message as out, so the decision that it is not must be on Kafka with it. The
note comes back as one more source of the query and acts on exactly the version it names.
"""

import base64
import json
import logging
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from pipeline.outbox.decision import Decision
from pipeline.outbox.item import Item
from state import row

log = logging.getLogger(__name__)

_STATE = "state"


def write_note(item: Item, decision: Decision, state_id: str) -> bytes:
    """Say what was decided about ``item``, and why."""
    version = item.version
    return json.dumps(
        {
            _STATE: state_id,
            row.IDENTITY: base64.b64encode(item.identity).decode(),
            row.SOURCE_TOPIC: version.topic,
            row.SOURCE_PARTITION: version.partition,
            row.SOURCE_OFFSET: version.offset,
            row.SOURCE_TIMESTAMP: version.timestamp,
            row.OCCURRENCE: version.occurrence,
            **decision.as_outcome(),
        }
    ).encode()


def read_notes(notes: Iterable[bytes | None], state_id: str) -> pa.Table:
    """Return this state's notes as outcomes; what somebody else wrote is passed over."""
    lines = [_read(note) for note in notes]
    mine = [line for line in lines if line.get(_STATE) == state_id]
    if len(mine) < len(lines):
        log.warning("%d records on the internal topic are not this job's", len(lines) - len(mine))
    for line in mine:
        line[row.IDENTITY] = base64.b64decode(line[row.IDENTITY])
    return pa.Table.from_pylist(mine, schema=row.OUTCOMES)


def _read(note: bytes | None) -> dict[str, Any]:
    try:
        line = json.loads(note or b"")
    except ValueError:
        return {}
    return line if isinstance(line, dict) else {}
