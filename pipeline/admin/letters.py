"""Finds what ended as dead, and sends it again: as it was, or as somebody has mended it."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pipeline.admin.desk import Desk
from pipeline.admin.listing import LIGHT, Asked, listed
from pipeline.admin.problems import Problem
from pipeline.admin.sent import Sent
from pipeline.admin.shown import instant, micros_of
from pipeline.admin.who import Principal
from pipeline.dead import DeadFilter, dead_by_reason, with_reason
from pipeline.resubmit import plan_resubmit, schedule_again, send_again
from state.cursor import Order
from state.inspect import Cursor, Inspector
from state.row import HEADERS, KIND, SOURCE_TOPIC, Kind, Status

log = logging.getLogger(__name__)

Row = dict[str, Any]

LISTED = [*LIGHT, HEADERS]  # what a list needs: headers say why a record was refused
MOST = 1_000  # that are sent again at once
_PAGE = 500
_LOOKS = 20  # pages that are read to fill one with what was asked for
_LETTERS = frozenset({Kind.MESSAGE, Kind.REJECTION})


class Letters(NamedTuple):
    """Dead rows, the newest first, and where the next page begins."""

    rows: list[Row]
    next: str | None


@dataclass(frozen=True, slots=True)
class Resubmitting:
    """What would be sent again, and what not because a newer version of its key is known."""

    send: list[Row]
    skip: list[Row]
    more: bool  # whether there are others that match


def by_reason(state: Inspector) -> list[Row]:
    """Count what is dead by reason, kind and topic, with the first and the last instant."""
    return [
        {
            "reason": line["reason"],
            "kind": line["kind"],
            "topic": line["topic"],
            "count": line["dead"],
            "first": instant(micros_of(line["first"])),
            "last": instant(micros_of(line["last"])),
        }
        for line in dead_by_reason(state).to_pylist()
        if line["kind"] in _LETTERS
    ]


def letters(
    state: Inspector,
    choice: DeadFilter,
    cursor: str | None = None,
    limit: int = 50,
    columns: Sequence[str] | None = None,
) -> Letters:
    """Return one page of what is dead; with ``columns``, such as LISTED, rows have these only."""
    found: list[Row] = []
    for place, row in _matching(state, choice, cursor, columns=columns):
        if len(found) == limit:
            return Letters(found, letter_id(found[-1]))
        if row is None:  # much was looked at in vain: go on from here
            return Letters(found, place)
        found.append(row)
    return Letters(found, None)


def letter_id(row: Row) -> str:
    """Return what names a dead row: its place in the list."""
    return Cursor.of(row, Order.LAST_CHANGED).to_text()


def letter_of(state: Inspector, name: str) -> Row:
    """Return the dead row of that name; a Problem if there is none, or no longer."""
    place = Cursor.from_text(name, "id")
    before = place._replace(occurrence=place.occurrence + 1)
    asked = replace(_DEAD, limit=1, cursor=before.to_text())
    rows = [row for row in listed(state, asked).rows if letter_id(row) == name]
    if not rows:
        raise Problem(404, "not_found", "no such dead letter is known, or no longer")
    return with_reason(rows[0])


def again(state: Inspector, choice: DeadFilter, *, force: bool = False) -> Resubmitting:
    """Find what is to be sent again; ``force``: also where a newer version of the key is known."""
    rows: list[Row] = []
    for _, row in _matching(state, choice, None, looks=None):
        if row is not None:
            rows.append(row)
        if len(rows) > MOST:
            break
    planned = plan_resubmit(state, rows[:MOST], force=force)
    return Resubmitting(planned.send, [row for row, _ in planned.skip], len(rows) > MOST)


def resubmit(desk: Desk, who: Principal, rows: list[Row]) -> list[Sent]:
    """Send rows again: a message as due now, a refused record exactly as it came."""
    for row in rows:  # before any is sent
        if row[KIND] == Kind.MESSAGE:
            desk.sending.source(row[SOURCE_TOPIC])
    sent = [Sent.of("resubmit", _send(desk, row)) for row in rows]
    log.info("%s sent %d dead letters again", who.name, len(sent))
    return sent


def resend(desk: Desk, who: Principal, state: Inspector, row: Row, *, force: bool = False) -> Sent:
    """Send one row again; a Problem if a newer version of its key is known, unless forced."""
    if not plan_resubmit(state, [row], force=force).send:
        raise Problem(
            409, "newer_version", "a newer version of the key is known; force sends it all the same"
        )
    return resubmit(desk, who, [row])[0]


def require_mendable(desk: Desk) -> None:
    """Raise a Problem where nobody may see, and so nobody mend, what a letter says."""
    if desk.settings.admin.hide_payload:
        raise Problem(
            403,
            "payload_hidden",
            "admin.hide_payload is on: what nobody sees cannot be mended; send it as it was",
        )


def _send(desk: Desk, row: Row) -> Any:
    if row[KIND] == Kind.REJECTION:
        return send_again(desk.sending.client(row[SOURCE_TOPIC]), row)
    return schedule_again(desk.sending.client(desk.sending.source(row[SOURCE_TOPIC])), row)


_DEAD = Asked(statuses=frozenset({Status.DEAD}), kind=None, order=Order.LAST_CHANGED, limit=_PAGE)


def _matching(
    state: Inspector,
    choice: DeadFilter,
    cursor: str | None,
    looks: int | None = _LOOKS,
    columns: Sequence[str] | None = None,
) -> Iterator[tuple[str | None, Row | None]]:
    """Yield what matches; at last, if not all was looked at, None and the place to go on from."""
    place, looked = cursor, 0
    while looks is None or looked < looks:
        rows, place = listed(state, replace(_DEAD, key=choice.key, cursor=place), columns)
        for row in map(with_reason, rows):
            if row[KIND] in _LETTERS and choice.takes(row):
                yield None, row
        if place is None:
            return
        looked += 1
    yield place, None
