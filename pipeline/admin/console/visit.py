"""What a page knows of who looks at it: their name, what they may do, how they want it."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from pipeline.admin.console.texts import t
from pipeline.admin.desk import desk_of
from pipeline.admin.pages.local import path_of
from pipeline.admin.pages.visiting import Visitor, form_token, session_of
from pipeline.admin.who import Principal
from pipeline.config.settings import Settings

THEMES = ("auto", "dark", "light")


@dataclass(frozen=True, slots=True)
class Visit:
    """One request for a page; ``who`` is None where nobody is logged in."""

    who: Principal | None
    settings: Settings
    base: str  # what stands before every path
    path: str  # the page that was asked for, without the base
    here: str  # all of it, with the base and the query
    theme: str
    csrf: str
    origin: str  # the address of the server, as the browser knows it

    @property
    def may_act(self) -> bool:
        """Whether to offer actions."""
        return self.who is not None and self.who.may_act and not self.settings.admin.read_only

    @property
    def why_not(self) -> str:
        """Why there are no actions, for people."""
        if self.settings.admin.read_only:
            return t("Read only: admin.read_only is on.")
        return t("You may look and not act; ask for an operator's token.")

    @property
    def asks_who(self) -> bool:
        """Whether people log in here."""
        return self.settings.admin.asks_who

    @property
    def other_theme(self) -> str:
        """What the button for light and dark changes to."""
        return THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)]


def visit_by(request: Request, who: Principal | None) -> Visit:
    """Return a visit by somebody who was let in, or by nobody."""
    base = request.scope.get("root_path", "")
    theme = request.cookies.get("theme", THEMES[0])
    return Visit(
        who=who,
        settings=desk_of(request).settings,
        base=base,
        path=request.url.path.removeprefix(base) or "/",
        here=path_of(request),
        theme=theme if theme in THEMES else THEMES[0],
        csrf=form_token(request),
        origin=f"{request.url.scheme}://{request.url.netloc}",
    )


def visit_of(request: Request, who: Visitor) -> Visit:
    """Return the visit; whoever is not logged in is sent to do so."""
    return visit_by(request, who)


def anybody(request: Request) -> Visit:
    """Return the visit of whoever it is, for pages that say what went wrong."""
    session = session_of(request)
    return visit_by(request, session.who if session else None)


Visiting = Annotated[Visit, Depends(visit_of)]
