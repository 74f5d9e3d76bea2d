"""The columns of a line on its way from Spark to the driver: a command, and why it is refused."""

import pyarrow as pa

from state.row import (
    BATCH_TIME,
    COMMANDS,
    DETAIL,
    HEADERS_TYPE,
    OCCURRENCE,
    REASON,
    SCHEDULED,
    SUPERSEDED,
)

VERDICT = "_verdict"  # of a refused record: the reason and its sentence, with facts to be filled in
FACTS = "_facts"  # of a refused record: what the dialect knows of it, as JSON
RAW_VALUE = "_value"
RAW_HEADERS = "_headers"

CONTROL = "control"  # ENTRY of a command other than put and cancel, as its POLICY says

# What the driver finds out itself.
_LATER = (OCCURRENCE, SCHEDULED, REASON, DETAIL, SUPERSEDED)

LINE = pa.schema(
    [
        *(field for field in COMMANDS if field.name not in _LATER),
        pa.field(VERDICT, pa.string()),
        pa.field(FACTS, pa.string()),
        pa.field(RAW_VALUE, pa.binary()),
        pa.field(RAW_HEADERS, HEADERS_TYPE),
    ]
)

# What it makes of that, for pipeline.latest and pipeline.said.
TIMED_COMMANDS = COMMANDS.append(pa.field(BATCH_TIME, pa.int64()))
