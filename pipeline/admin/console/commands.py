"""Lists the commands that were given: who, what, why, and what came of it."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pipeline.admin.console.did import Doing
from pipeline.admin.console.render import page
from pipeline.admin.console.visit import Visiting
from pipeline.admin.desk import State
from pipeline.admin.listing import Asked, listed
from pipeline.remembered import read_remembered
from state.cursor import Order
from state.row import SOURCE_TOPIC, Kind

router = APIRouter(include_in_schema=False)


@router.get("/commands")
def commands(visit: Visiting, state: State, did: Doing, cursor: str = "") -> HTMLResponse:
    """Show a page of them, the newest first."""
    asked = Asked(kind=Kind.COMMAND, order=Order.LAST_CHANGED, cursor=cursor or None, limit=50)
    found = listed(state, asked)
    given = [(read_remembered(row), row[SOURCE_TOPIC]) for row in found.rows]
    return page(visit, "commands.html", did=did, given=given, next=found.next, cursor=cursor)
