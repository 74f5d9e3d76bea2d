"""Tells a browser what went wrong as a page, with the sentence that programs get, too."""

from fastapi import Request, Response

from pipeline.admin.console.render import is_part, page
from pipeline.admin.console.visit import anybody
from pipeline.admin.problems import Problem

_PROGRAMS = "/v1/"


def problem_page(request: Request, problem: Problem) -> Response | None:
    """Return the page; None where it is no person that asks."""
    visit = anybody(request)
    wants_page = "text/html" in request.headers.get("accept", "") or is_part(request)
    if not wants_page or visit.path.startswith(_PROGRAMS) or problem.status < 400:
        return None
    answer = page(visit, "problem.html", problem.status, problem=problem)
    answer.headers.update(problem.headers)
    return answer
