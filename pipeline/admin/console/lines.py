"""Turns rows of the state into what a list shows, each with a name and a mark of how it stands."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pipeline.admin.console.texts import t
from pipeline.commands import version_text
from pipeline.paused import instant_of, is_paused
from state import row as r
from state.readable import late_by
from state.row import LIVE, REPEATS

PAUSED = "paused"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a list."""

    id: str  # names the row on the page
    mark: str  # changes when what the list shows of it does
    key: bytes | None
    source: str
    version: str
    occurrence: int
    status: str
    topic: str | None
    due: int
    changed: int | None
    published: int | None
    late_ms: float | None
    attempts: int
    reason: str | None
    detail: str | None
    size: int | None
    repeats: bool


def line_of(row: Row) -> Line:
    """Return what a list shows of a row."""
    late, status = late_by(row), status_of(row)
    version = version_text(row[r.SOURCE_PARTITION], row[r.SOURCE_OFFSET])
    return Line(
        id=_digest(row[r.SOURCE_TOPIC], row[r.KEY], version, row[r.OCCURRENCE]),
        mark=_digest(status, row[r.DUE], row[r.ATTEMPT])[:4],
        key=row[r.KEY],
        source=row[r.SOURCE_TOPIC],
        version=version,
        occurrence=row[r.OCCURRENCE],
        status=status,
        topic=row[r.OUTPUT_TOPIC],
        due=instant_of(row),
        changed=row[r.CHANGED_AT],
        published=row[r.PUBLISHED_AT],
        late_ms=None if late is None else late / 1_000,
        attempts=row[r.ATTEMPT] or 0,
        reason=row[r.REASON],
        detail=row[r.DETAIL],
        size=None if row[r.PAYLOAD] is None else len(row[r.PAYLOAD]),
        repeats=REPEATS in (row[r.POLICY] or ""),
    )


def status_of(row: Row) -> str:
    """Return the status for people: what is held back is paused."""
    held = row[r.STATUS] in LIVE and is_paused(row)
    return PAUSED if held else str(row[r.STATUS])


def status_text(status: str) -> str:
    """Return a status in words."""
    words = {
        "pending": t("pending"),
        "claimed": t("claimed"),
        PAUSED: t("paused"),
        "done": t("done"),
        "cancelled": t("cancelled"),
        "replaced": t("replaced"),
        "expired": t("expired"),
        "dead": t("dead"),
        "all": t("all"),
    }
    return words.get(status, status)


def seen_text(lines: Iterable[Line]) -> str:
    """Write down what a page shows, for the question what has changed since."""
    return ".".join(f"{line.id}{line.mark}" for line in lines)


def read_seen(text: str) -> dict[str, str]:
    """Read it back: the mark of each row that is shown."""
    return {part[:10]: part[10:] for part in text.split(".") if len(part) == 14}


def _digest(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=5).hexdigest()
