"""Says in the API's description which problems an operation may answer with."""

from typing import Any

from pipeline.admin.problems import PROBLEM

_WHEN = {
    400: "The request cannot be read.",
    401: "There is no token, or nobody knows it.",
    403: "Who asks may not do this, or nobody may.",
    404: "There is no such thing, or nothing is pending.",
    408: "The body was not here in time.",
    409: "It cannot be done as things are.",
    412: "Another version is pending than the one that was named, or none.",
    413: "The body, or the message, is too large.",
    415: "An event does not come in this content type.",
    421: "This server is not asked for by that name.",
    422: "Something in the request is wrong; the reason says what.",
    429: "Too many requests; try again later.",
    500: "Something that should not happen.",
    503: "The state or Kafka cannot be reached, or the job has not made its state yet.",
}
_READ = (400, 401, 403, 421, 422, 429, 500, 503)
_WRITE = (*_READ, 408, 409, 413)

Responses = dict[int | str, dict[str, Any]]


def reading(*more: int) -> Responses:
    """Return the problems of an operation that reads."""
    return _told(*_READ, *more)


def writing(*more: int) -> Responses:
    """Return the problems of an operation that writes."""
    return _told(*_WRITE, *more)


def _told(*statuses: int) -> Responses:
    content = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": _WHEN[status], "content": content} for status in sorted(statuses)
    }
