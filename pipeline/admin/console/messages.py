"""Lists messages: by status, narrowed as the address says, a page at a time."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from pipeline.admin.console.asking import TABS, Ask, readable_asking
from pipeline.admin.console.did import Doing
from pipeline.admin.console.lines import line_of, read_seen, seen_text
from pipeline.admin.console.render import is_part, page
from pipeline.admin.console.visit import Visiting
from pipeline.admin.desk import State
from pipeline.admin.listing import listed
from pipeline.clock import now_micros
from pipeline.config.settings import Settings
from state.errors import ConfigError
from state.inspect import Inspector

router = APIRouter(include_in_schema=False)

STEERABLE = ("pending", "claimed", "paused")  # tabs whose messages can still be acted on


@router.get("/messages")
def messages(request: Request, visit: Visiting, state: State, ask: Ask, did: Doing) -> HTMLResponse:
    """Show a list."""
    template = "messages_list.html" if is_part(request) else "messages.html"
    return page(visit, template, did=did, **_seen(state, visit.settings, ask))


@router.get("/messages/changes")
def changes(visit: Visiting, state: State, ask: Ask, seen: str = "") -> HTMLResponse:
    """Tell what has changed since a list was shown, without changing the list."""
    before = read_seen(seen)
    question, problem = readable_asking(ask)
    now = {line.id: line for line in map(line_of, [] if problem else listed(state, question).rows)}
    return page(
        visit,
        "changes.html",
        ask=ask,
        fresh=len(now.keys() - before.keys()),
        changed=[line for name, line in now.items() if before.get(name, line.mark) != line.mark],
        gone=sorted(before.keys() - now.keys()),
    )


def known_topics(settings: Settings) -> list[str]:
    """Return output topics to choose from: those that are allowed by name."""
    return sorted(name for name in settings.outputs.allow if not set(name) & set("*?["))


def _seen(state: Inspector, settings: Settings, ask: Ask) -> dict[str, Any]:
    question, problem = readable_asking(ask)
    try:
        found = listed(state, question)
    except ConfigError as error:  # such as a cursor of another order
        problem = str(error)
        found = listed(state, ask.__class__(status=ask.status).asked())
    lines = [line_of(row) for row in found.rows]
    return {
        "ask": ask,
        "tabs": TABS,
        "lines": lines,
        "seen": seen_text(lines),
        "next": found.next,
        "problem": problem,
        "topics": known_topics(settings),
        "sources": [source.topic for source in settings.sources],
        "pauses": state.stats(now_micros()).pauses,
        "steerable": ask.tab in STEERABLE,
    }
