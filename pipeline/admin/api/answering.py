"""Answers a write: where its record is, and what the job made of it if that was waited for."""

from collections.abc import Callable
from urllib.parse import quote, urlencode

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from pipeline.admin.api.answers import Message, Written
from pipeline.admin.desk import Desk
from pipeline.admin.problems import Problem
from pipeline.admin.replays import Answer
from pipeline.admin.sent import Sent
from pipeline.admin.shown import shown
from pipeline.admin.single import etag
from pipeline.admin.waiting import Outcome, outcome, waited
from pipeline.commands import Command, Effect
from pipeline.keys import key_text
from state.errors import StateError
from state.row import REASON, STATUS, Status

_REFUSED = {
    Effect.NOTHING_PENDING: (404, "nothing is pending under this key; perhaps it has just left"),
    Effect.VERSION_DIFFERS: (412, "another version is pending; look at the message, decide again"),
    Effect.AFTER_EXPIRY: (409, "the message expires before that instant; it stays as it is"),
}
_MAKES_A_VERSION = frozenset({"schedule", Command.RESCHEDULE, Command.SEND_NOW, "resubmit"})


async def written(
    request: Request, desk: Desk, act: Callable[[], Sent], wait: int, *, of_key: bool = True
) -> Response:
    """Act, wait for what comes of it if asked to, and answer."""
    answer = await answered(request, desk, act, wait, of_key=of_key)
    return response(answer)


async def answered(
    request: Request, desk: Desk, act: Callable[[], Sent], wait: int, *, of_key: bool = True
) -> Answer:
    """Return the answer to a write; what the job refused is a Problem."""
    sent = await run_in_threadpool(act)
    found = await waited(lambda: _look(desk, sent), wait) if wait else None
    return answer_of(request, desk, sent, found, of_key=of_key)


def answer_of(
    request: Request, desk: Desk, sent: Sent, found: Outcome | None, *, of_key: bool = True
) -> Answer:
    """Return what is to be said of a record, and of what came of it."""
    _require_effect(found, desk.settings.admin.hide_payload)
    said = Written(
        key=key_text(sent.key) if of_key else None,
        source=sent.source,
        partition=sent.partition,
        offset=sent.offset,
        version=sent.version,
        taken=found is not None,
        effect=None if found is None else _effect(found),
        message=_message(desk, found),
    )
    headers = {"Location": location(request, desk, sent.key, sent.source)} if of_key else {}
    if sent.what in _MAKES_A_VERSION:
        headers["ETag"] = etag(sent.version)
    return Answer(202 if found is None else 200, said.model_dump(), headers)


def response(answer: Answer, *, replayed: bool = False) -> Response:
    """Return an answer as a response."""
    more = {"Idempotent-Replayed": "true"} if replayed else {}
    return JSONResponse(answer.body, answer.status, headers=answer.headers | more)


def location(request: Request, desk: Desk, key: bytes, source: str) -> str:
    """Return the address of a key, below whatever a proxy puts before it."""
    text = key_text(key)
    if any(part in ("", ".", "..") for part in text.split("/")):
        text = f"0x{key.hex()}"  # else whoever follows it would shorten the path
    query = "" if source == desk.sending.default_source else "?" + urlencode({"source": source})
    return f"{request.scope.get('root_path', '')}/v1/messages/{quote(text, safe='')}{query}"


def _look(desk: Desk, sent: Sent) -> Outcome | None:
    try:
        return outcome(desk.looking.inspector(), sent)
    except StateError:  # the record is sent, whether the state can be reached just now or not
        return None


def _require_effect(found: Outcome | None, hide: bool) -> None:
    if found is None:
        return
    if found.reason is not None:
        raise Problem(422, found.reason, found.why(hide) or "the job refused the record")
    for effect, (status, sentence) in _REFUSED.items():
        if found.effect == effect:
            raise Problem(status, effect.value, sentence)


def _effect(found: Outcome) -> str | None:
    if found.effect is not None or found.row is None:
        return found.effect
    turned_away = found.row[STATUS] == Status.REPLACED and found.row[REASON] is not None
    return str(found.row[REASON if turned_away else STATUS])


def _message(desk: Desk, found: Outcome | None) -> Message | None:
    if found is None or found.message is None:
        return None
    return Message.model_validate(shown(found.message, hide=desk.settings.admin.hide_payload))
