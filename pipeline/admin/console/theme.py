"""Remembers whether somebody wants the pages light, dark, or as their system has it."""

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse

from pipeline.admin.console.visit import Visiting
from pipeline.admin.pages.local import local_or_home

router = APIRouter(include_in_schema=False)

_YEAR = 365 * 86_400


@router.get("/theme")
def theme(
    request: Request, visit: Visiting, to: Literal["auto", "light", "dark"], back: str = ""
) -> RedirectResponse:
    """Remember it, and go back."""
    answer = RedirectResponse(local_or_home(request, back), 303)
    place = visit.base or "/"
    answer.set_cookie("theme", to, _YEAR, path=place, httponly=True, samesite="lax")
    return answer
