"""Renders the pages of the console from their templates."""

from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from pipeline.admin.console import formats
from pipeline.admin.console.assets import asset
from pipeline.admin.console.lines import status_text
from pipeline.admin.console.texts import TEXTS
from pipeline.admin.console.visible import visible
from pipeline.admin.console.visit import Visit
from pipeline.clock import now_micros
from pipeline.keys import key_text

_FILTERS = {
    "when": formats.when,
    "ago": formats.ago,
    "count": formats.count,
    "size": formats.size,
    "millis": formats.millis,
    "day": formats.day,
    "clock": formats.clock,
    "status_text": status_text,
    "visible": visible,
    "key_text": key_text,
}


def page(visit: Visit, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page, or a part of one, as an answer."""
    return HTMLResponse(render(visit, template, **values), status)


def render(visit: Visit, template: str, **values: Any) -> str:
    """Return a page, or a part of one, as text."""
    base = visit.base

    def href(path: str, **query: object) -> str:
        given = {name: value for name, value in query.items() if value not in (None, "", [])}
        return f"{base}{path}" + (f"?{urlencode(given, doseq=True)}" if given else "")

    def static(name: str) -> str:
        return f"{base}/static/{name}?v={asset(name).digest}"

    context = {"visit": visit, "href": href, "static": static, "now": now_micros()}
    return _environment().get_template(template).render(context | values)


def is_part(request: Request) -> bool:
    """Tell whether a script asks for a part of a page; its history may ask for all of it."""
    asked = request.headers
    return asked.get("hx-request") == "true" and "hx-history-restore-request" not in asked


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pipeline.admin.console"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_callables(  # type: ignore[attr-defined]
        TEXTS.gettext, TEXTS.ngettext, newstyle=True
    )
    environment.filters |= _FILTERS
    return environment
