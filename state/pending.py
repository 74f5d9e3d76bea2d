"""The columns by which pending versions of a key are told."""

import pyarrow as pa

from state.row import (
    DUE,
    HASH,
    HEADERS,
    KIND,
    OUTPUT_TOPIC,
    PAYLOAD,
    POLICY,
    ROW,
    SCHEDULED,
    VERSION_FIELDS,
    Status,
)

CONTENT = (PAYLOAD, HEADERS)
# What a policy looks at; STATUS is not among it, as all of them are pending.
LIGHT_ROW = pa.schema(
    [
        *VERSION_FIELDS,
        *(ROW.field(name) for name in (HASH, KIND, OUTPUT_TOPIC, DUE, SCHEDULED, POLICY)),
    ]
)
PENDING = Status.PENDING.value
