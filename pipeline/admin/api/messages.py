"""Lists messages, and tells all that is known of one key."""

from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response

from pipeline.admin.api.answers import Message, MessagePage, Single
from pipeline.admin.api.asking import BEARER, InPath, Source, instant_of, key_of, require_text
from pipeline.admin.api.fields import Cursor, KeyInQuery, Topic, When
from pipeline.admin.api.told import reading
from pipeline.admin.desk import AtDesk, State, Viewer
from pipeline.admin.listing import LIGHT, MOST, Asked, Listed, listed
from pipeline.admin.problems import Problem
from pipeline.admin.shown import shown
from pipeline.admin.single import etag, message_of
from pipeline.admin.trail import command_shown
from state.cursor import Order
from state.row import Status

router = APIRouter(prefix="/v1", tags=["messages"], dependencies=[BEARER, Depends(require_text)])

_ORDERS = {"due": Order.NEXT_DUE, "-due": Order.LAST_DUE, "-changed": Order.LAST_CHANGED}
_WITH_PAYLOAD = 50  # messages of a page at most
Payload = Annotated[bool, Query(description="whether payloads are written out, too")]


def asked_of(
    status: Annotated[list[Status] | None, Query(description="one or more")] = None,
    topic: Annotated[Topic | None, Query(description="the output topic")] = None,
    source: Annotated[Topic | None, Query(description="the input topic")] = None,
    key_prefix: KeyInQuery | None = None,
    due_from: When | None = None,
    due_to: When | None = None,
    repeating: Annotated[bool, Query(description="true: only what repeats")] = False,
    paused: bool | None = None,
    order: Literal["due", "-due", "-changed"] = "due",
    cursor: Cursor | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
) -> Asked:
    """Read what is asked for."""
    return Asked(
        statuses=None if status is None else frozenset(status),
        topic=topic,
        source=source,
        key_prefix=None if key_prefix is None else key_of(key_prefix, "key_prefix"),
        due_from=instant_of(due_from, "due_from"),
        due_to=instant_of(due_to, "due_to"),
        repeating=repeating,
        paused=paused,
        order=_ORDERS[order],
        cursor=cursor,
        limit=limit,
    )


@router.get("/messages", operation_id="list_messages", responses=reading())
def list_messages(
    request: Request,
    response: Response,
    desk: AtDesk,
    _who: Viewer,
    state: State,
    asked: Annotated[Asked, Depends(asked_of)],
    payload: Payload = False,
) -> MessagePage:
    """List messages, a page at a time; pages neither shift nor repeat while rows come and go."""
    if payload and asked.limit > _WITH_PAYLOAD:
        raise Problem(422, "invalid_request", f"limit: at most {_WITH_PAYLOAD} with payloads")
    found = listed(state, asked, None if payload else LIGHT)
    _link_next(request, response, found)
    hide = desk.settings.admin.hide_payload
    rows = [shown(row, hide=hide, payload=payload) for row in found.rows]
    return MessagePage(messages=[Message.model_validate(row) for row in rows], next=found.next)


@router.get("/messages/{key:path}", operation_id="get_message", responses=reading(404, 409))
def get_message(
    response: Response,
    desk: AtDesk,
    _who: Viewer,
    state: State,
    key: InPath,
    source: Source = None,
    payload: Payload = False,
    limit: Annotated[int, Query(ge=1, le=MOST, description="versions, and commands")] = 50,
) -> Single:
    """Tell what is pending under a key, its versions with their receipts, and the commands.

    The ETag is the version of the message, for If-Match. Without `source` the default input topic
    is meant if it knows the key, else the only one that does.
    """
    known = message_of(state, desk.settings, key, source, desk.sending.default_source)
    if not known.rows:
        raise Problem(404, "not_found", "nothing is known of this key, or no longer")
    if known.version is not None:
        response.headers["ETag"] = etag(known.version)
    hide = desk.settings.admin.hide_payload
    current = None if known.current is None else shown(known.current, hide=hide)
    versions = [shown(row, hide=hide, payload=payload) for row in known.versions[:limit]]
    return Single.model_validate(
        {
            "message": current,
            "versions": versions,
            "commands": [command_shown(command) for command in known.commands[:limit]],
            "more": max(len(known.versions), len(known.commands)) > limit,
        }
    )


def _link_next(request: Request, response: Response, found: Listed) -> None:
    if found.next is None:
        return
    others = [(name, value) for name, value in request.query_params.multi_items()]
    kept = [pair for pair in others if pair[0] != "cursor"]
    query = urlencode([*kept, ("cursor", found.next)])
    root = request.scope.get("root_path", "")
    response.headers["Link"] = f'<{root}/v1/messages?{query}>; rel="next"'
