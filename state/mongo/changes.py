"""Says which fields of a document a commit changes, from what became of its version."""

from typing import NamedTuple

from state.mongo.documents import without
from state.mongo.layout import CLAIMED_AT, CLOSED_AT, LANE, LAST_CLAIM, Document
from state.resolve import Known
from state.row import (
    BATCH,
    CHANGED_AT,
    CLAIM,
    DUE,
    HASH,
    KEPT,
    LIVE,
    OUTCOME_FIELDS,
    STATUS,
    Status,
)

_SAID = [f.name for f in OUTCOME_FIELDS if f.name != STATUS]


class Moment(NamedTuple):
    """A commit: its number, its batch, the batch's time, and the lanes rows are divided into."""

    seq: int
    batch: int
    now: int
    lanes: int


def fields_changed(
    known: Known, outcome: Document | None, moment: Moment
) -> tuple[Document, list[str]]:
    """Return the fields to be set and the names of those to be removed."""
    values: Document = {
        STATUS: known.status.value,
        DUE: known.due,
        BATCH: known.batch,
        CHANGED_AT: known.changed_at,
        **closing(known),
    }
    gone = [] if CLOSED_AT in values else [CLOSED_AT]
    if known.claim is None:
        gone.append(CLAIM)
    else:
        values[CLAIM] = known.claim
    if known.status is Status.CLAIMED:
        values |= {LAST_CLAIM: known.claim, CLAIMED_AT: moment.now}
    if outcome is not None:
        back = outcome[STATUS] == Status.PENDING
        values |= {name: outcome[name] for name in _SAID if outcome[name] is not None}
        gone += [n for n in _SAID if outcome[n] is None and not (back or n in KEPT)]
    return values, gone


def content(base: Document, known: Known, outcome: Document | None, moment: Moment) -> Document:
    """Return a whole document, but for what names it."""
    values, gone = fields_changed(known, outcome, moment)
    lane = {LANE: base[HASH] % (moment.lanes or 1)} if known.status in LIVE else {}
    return without(base, gone) | values | lane


def closing(known: Known) -> Document:
    """Return the field that lets a closed row be purged one day."""
    return {} if known.status in LIVE else {CLOSED_AT: known.changed_at}


def claimed_fields(batch: int, now: int) -> Document:
    """Return the fields that claim a row for a batch."""
    return {
        STATUS: Status.CLAIMED.value,
        CLAIM: batch,
        BATCH: batch,
        CHANGED_AT: now,
        LAST_CLAIM: batch,
        CLAIMED_AT: now,
    }
