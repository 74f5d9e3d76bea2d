"""Lists the messages that repeat: by which rule, which occurrence comes next, when it ends."""

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pipeline.admin.console.lines import Line, line_of
from pipeline.admin.console.render import page
from pipeline.admin.console.repeating import end_text, miss_text, rule_text
from pipeline.admin.console.visit import Visiting
from pipeline.admin.desk import State
from pipeline.admin.listing import Asked, listed
from pipeline.clock import now_micros
from state.row import POLICY, Status

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Series:
    """One message that repeats."""

    line: Line
    rule: str
    ends: str
    misses: str


@router.get("/repeats")
def repeats(visit: Visiting, state: State, cursor: str = "") -> HTMLResponse:
    """Show a page of them, the next due first."""
    asked = Asked(
        statuses=frozenset({Status.PENDING}), repeating=True, cursor=cursor or None, limit=50
    )
    found = listed(state, asked)
    series = [
        Series(line_of(row), rule_text(row[POLICY]), end_text(row[POLICY]), miss_text(row[POLICY]))
        for row in found.rows
    ]
    pauses = state.stats(now_micros()).pauses
    return page(visit, "repeats.html", series=series, next=found.next, cursor=cursor, pauses=pauses)
