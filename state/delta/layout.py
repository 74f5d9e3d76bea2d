"""The three tables of a state: names, columns, properties, and how rows are spread over files."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from state.clock import DAY, HOUR, MINUTE, SECOND
from state.lines import LINES, META, SEQ
from state.row import BATCH, CHANGED_AT, DUE, ROW, STATUS

LAYOUT = "3"
LAYOUT_PROPERTY = "duestream.layout"
STATE_ID_PROPERTY = "duestream.state_id"
COPY_PROPERTY = "duestream.copy"  # on tables that a copy of a state is written to
APP = "duestream"  # the application whose transactions number the commits
BUCKET = "bucket"  # schedules: the hour, day or month of the due instant
CLOSED_ON = "day"  # history: the day on which the row was closed
MARK_BUCKET = "mark"

_HOURLY = 2 * DAY
_DAILY = 90 * DAY


@dataclass(frozen=True, slots=True)
class Layout:
    """How one table is made."""

    name: str
    schema: pa.Schema
    partition: str | None
    statistics: tuple[str, ...]


CHANGELOG = Layout("changelog", LINES, None, (SEQ, DUE))
SCHEDULES = Layout(
    "schedules",
    pa.schema(
        [
            *ROW,
            pa.field(SEQ, pa.int64()),
            pa.field(META, pa.string()),
            pa.field(BUCKET, pa.string()),
        ]
    ),
    BUCKET,
    (DUE, STATUS, BATCH, SEQ, CHANGED_AT),
)
HISTORY = Layout(
    "history",
    pa.schema([*ROW, LINES.field(SEQ), pa.field(CLOSED_ON, pa.string())]),
    CLOSED_ON,
    (DUE, STATUS, BATCH, SEQ, CHANGED_AT),
)
# The changelog is made last: where it is, the state is whole.
TABLES = (SCHEDULES, HISTORY, CHANGELOG)


def properties(layout: Layout, state_id: str, keep: int) -> dict[str, str]:
    """Return the table's properties; ``keep`` is how long unused files stay, in microseconds."""
    kept = _interval(kept_for(layout, keep))
    return {
        LAYOUT_PROPERTY: LAYOUT,
        STATE_ID_PROPERTY: state_id,
        "delta.checkpointInterval": "100",
        "delta.dataSkippingStatsColumns": ",".join(layout.statistics),
        "delta.deletedFileRetentionDuration": kept,
        "delta.logRetentionDuration": kept,
    }


def kept_for(layout: Layout, keep: int) -> int:
    """Return how long unused files of this table stay, in microseconds; a minute at the least."""
    # One file a tick: a week of their tombstones would make each checkpoint of it heavy.
    longest = HOUR if layout is CHANGELOG else keep
    return max(min(keep, longest), MINUTE)


def _interval(kept: int) -> str:
    return (
        f"interval {kept // HOUR} hours" if kept >= HOUR else f"interval {kept // SECOND} seconds"
    )


def buckets(due: pa.ChunkedArray, now: int) -> pa.Array:
    """Spread rows by their due instant: near ones by the hour, then by day, far ones by month.

    The window then reads few files, and a fold rewrites only those whose rows changed.
    """
    instants = due.to_numpy()
    times = instants.astype("datetime64[us]")
    labels = np.where(
        instants - now < _HOURLY,
        times.astype("datetime64[h]").astype(str),
        np.where(
            instants - now < _DAILY,
            times.astype("datetime64[D]").astype(str),
            times.astype("datetime64[M]").astype(str),
        ),
    )
    return pa.array(labels.tolist(), pa.string())


def days(instants: pa.ChunkedArray) -> pa.Array:
    """Return the UTC day of each instant."""
    labels = instants.to_numpy().astype("datetime64[us]").astype("datetime64[D]").astype(str)
    return pa.array(labels.tolist(), pa.string())


def day_of(instant: int) -> str:
    """Return the UTC day of an instant."""
    return str(np.datetime64(instant, "us").astype("datetime64[D]"))
