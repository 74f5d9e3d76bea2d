"""Says what went wrong as application/problem+json (RFC 9457): a reason code and a sentence."""

import logging
import math
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match

from pipeline.client import TooLargeError
from pipeline.reasons import Reason
from pipeline.written import ScheduleError
from state.errors import ConfigError, DuestreamError

log = logging.getLogger(__name__)

AsPage = Callable[[Request, "Problem"], Response | None]

PROBLEM = "application/problem+json"
ASK_FOR_TOKEN = {"WWW-Authenticate": 'Bearer realm="duestream"'}
_CODES = {  # of what the framework itself refuses
    401: "not_authenticated",
    403: "not_allowed",
    404: "not_found",
    405: "method_not_allowed",
    408: "body_too_slow",
    413: "body_too_large",
    415: "unsupported_content",
    429: "too_many_requests",
}

_WAYS_OUT = {  # where the framework has no more to say than the title
    404: "nothing is at this address; check its spelling, /v1/openapi.json of the API tells all",
    405: "this address does not take the method of the request; the header Allow has those it does",
}
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class Problem(Exception):
    """A request that cannot be answered as asked; ``reason`` is a code, ``detail`` the way out.

    Where a dead letter would have a reason for the same mistake, the code is that reason's.
    """

    def __init__(
        self,
        status: int,
        reason: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.reason = reason
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = more

    @staticmethod
    def too_often(what: str, wait: float) -> "Problem":
        """Return the problem of who asked too often, and when to come again."""
        seconds = max(1, math.ceil(wait))
        return Problem(
            429,
            "too_many_requests",
            f"too many {what}; wait {seconds} s",
            headers={"Retry-After": str(seconds)},
        )

    def body(self) -> dict[str, Any]:
        """Return what the answer says."""
        return {
            "type": f"urn:duestream:problem:{self.reason}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "reason": self.reason,
            "detail": self.detail,
            **self.more,
        }


def problem_of(error: Exception) -> Problem:
    """Return the problem that an exception stands for; what nobody foresaw is only logged."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        code = _CODES.get(error.status_code, HTTPStatus(error.status_code).name.lower())
        detail = _WAYS_OUT.get(error.status_code, str(error.detail))
        return Problem(error.status_code, code, detail, headers=error.headers)
    if isinstance(error, ConfigError | ScheduleError):
        return Problem(422, "invalid_request", str(error))
    if isinstance(error, TooLargeError):
        return Problem(413, Reason.TOO_LARGE_FOR_TOPIC, str(error))
    if isinstance(error, DuestreamError):  # the state or Kafka: not the caller's mistake
        return Problem(503, "unavailable", str(error), headers={"Retry-After": "2"})
    log.error("a request failed", exc_info=error)
    return Problem(500, "internal_error", "this should not happen; the log of the server says more")


def answer(problem: Problem) -> Response:
    """Return the problem as a response."""
    return JSONResponse(problem.body(), problem.status, headers=problem.headers, media_type=PROBLEM)


def tell_problems(app: FastAPI, as_page: AsPage = lambda _request, _problem: None) -> None:
    """Have everything that goes wrong answered as a problem, or as a page where it makes one."""

    def handle(request: Request, error: Exception) -> Response:
        problem = problem_of(error)
        if problem.status == HTTPStatus.METHOD_NOT_ALLOWED:
            problem.headers |= {"Allow": ", ".join(_allowed(request))}
        return as_page(request, problem) or answer(problem)

    for kind in (Problem, RequestValidationError, HTTPException, DuestreamError, Exception):
        app.add_exception_handler(kind, handle)


def _allowed(request: Request) -> list[str]:
    """Return the methods of all routes at an address; the framework tells those of the first."""
    scopes = {method: {**request.scope, "method": method} for method in _METHODS}
    routes = request.app.routes
    return [m for m in _METHODS if any(r.matches(scopes[m])[0] is Match.FULL for r in routes)]


def _invalid(error: RequestValidationError) -> Problem:
    found = [
        {"field": _field(each.get("loc", ())), "sentence": str(each.get("msg", ""))}
        for each in error.errors()
    ]
    first = found[0] if found else {"field": "the request", "sentence": "cannot be read"}
    detail = f"{first['field']}: {first['sentence']}"
    return Problem(422, "invalid_request", detail, errors=found)


def _field(place: tuple[Any, ...]) -> str:
    names = [str(part) for part in place if part not in ("body", "query", "path", "header")]
    return ".".join(names) or "the body"
