"""Reads the parameters that many operations have: keys, instants, conditions, how long to wait."""

from typing import Annotated
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Header, Path, Query, Request
from fastapi.security import HTTPBearer

from pipeline.admin.api.fields import Topic
from pipeline.admin.conditions import Condition
from pipeline.admin.problems import Problem
from pipeline.admin.waiting import MOST
from pipeline.clock import now_micros
from pipeline.instants import parse_instant
from pipeline.reasons import Reason
from state.duration import parse_duration
from state.errors import ConfigError
from state.key_text import HEX

# Only for the description: who asks is found out by the desk.
BEARER = Depends(HTTPBearer(auto_error=False, description="a token of admin.tokens, or a JWT"))


def require_text(request: Request) -> None:
    """Refuse an address that is not UTF-8; else its bytes would be replaced unnoticed."""
    raw = request.scope.get("raw_path", b"") + b"?" + request.scope.get("query_string", b"")
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise Problem(
            422, "invalid_request", "the address is not UTF-8; write such a key as 0x and hex"
        ) from None


def key_of(text: str, name: str = "key") -> bytes:
    """Return the key that a text stands for."""
    if not text:
        raise Problem(422, Reason.MISSING_KEY, f"{name}: is empty; the key names the schedule")
    if not text.startswith(HEX):
        return text.encode()
    try:
        return bytes.fromhex(text.removeprefix(HEX))
    except ValueError:
        raise Problem(
            422,
            "invalid_request",
            f"{name}: is not hexadecimal after 0x; write two digits per byte, such as 0x6f72",
        ) from None


def in_path(
    key: Annotated[str, Path(description="the key; 0x and hex digits for any bytes")],
) -> bytes:
    """Return the key in the address."""
    return key_of(key)


def condition_of(
    if_match: Annotated[
        str | None, Header(description='an ETag, such as "0-17": only if it is pending; * if any')
    ] = None,
    if_none_match: Annotated[
        str | None, Header(description="*: only if nothing is pending")
    ] = None,
) -> Condition:
    """Return on which condition a request is meant."""
    return Condition.of_headers(if_match, if_none_match)


def wait_of(
    wait: Annotated[
        str | None,
        Query(max_length=40, description="wait for the job: 5s, at most 60s; it answers 200 then"),
    ] = None,
) -> int:
    """Return for how many microseconds to wait."""
    if wait is None:
        return 0
    try:
        span = parse_duration(wait)
    except ValueError as error:
        raise ConfigError(f"wait: {error}") from error
    if span > MOST:
        raise ConfigError(f"wait: {wait} is longer than 60s; look at the message later instead")
    return span


def instant_of(text: str | None, name: str) -> int | None:
    """Return an instant, None where none is given."""
    return None if text is None else parse_instant(text, name, now_micros())


InPath = Annotated[bytes, Depends(in_path)]
If = Annotated[Condition, Depends(condition_of)]
Wait = Annotated[int, Depends(wait_of)]
Source = Annotated[
    Topic | None, Query(description="the input topic; without it the first that takes events")
]
