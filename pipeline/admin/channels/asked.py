"""Reads what callers ask of a channel; what cannot be read is told with status 400."""

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from pipeline.admin.channels.written import Deed
from pipeline.admin.problems import Problem
from pipeline.clock import FARTHEST
from pipeline.config.channels_block import ChannelSettings
from pipeline.config.spans import write_duration
from pipeline.instants import parse_instant
from state.clock import MINUTE
from state.duration import parse_duration
from state.errors import ConfigError

EVENT_TTL = 10 * MINUTE
LOCK_TTL = MINUTE
_LONGEST_NAME = 200
_ACTIONS = {"LOCK": Deed.LOCK, "UNLOCK": Deed.UNLOCK}


@dataclass(frozen=True, slots=True)
class AskedEvent:
    """An event to be published, now or at an instant."""

    data: str
    ttl: int
    at: int | None


@dataclass(frozen=True, slots=True)
class AskedJob:
    """A job to be defined."""

    name: str
    data: str
    cron: str
    ttl: int


def read_event(body: bytes, channels: ChannelSettings, now: int) -> AskedEvent:
    """Read the body of a POST to events."""
    said = _object(body)
    ttl = _ttl(said, channels, EVENT_TTL)
    return AskedEvent(_text(said, "data"), ttl, _instant(said, now))


def read_action(body: bytes, channels: ChannelSettings) -> tuple[Deed, int]:
    """Read the body of a PATCH: what is to be done, and for how long."""
    said = _object(body)
    action = said.get("action")
    if action not in _ACTIONS:
        refuse("action: send LOCK or UNLOCK")
    return _ACTIONS[action], _ttl(said, channels, LOCK_TTL)


def read_job(body: bytes, channels: ChannelSettings) -> AskedJob:
    """Read the body of a POST to jobs; whether its cron expression is one is found out later."""
    said = _object(body)
    name = checked_name(_text(said, "name"), "name")
    ttl = _ttl(said, channels, EVENT_TTL)
    return AskedJob(name, _text(said, "data"), _text(said, "cronDef"), ttl)


def checked_name(name: str, field: str) -> str:
    """Return the name of a channel or a job, if it can be one."""
    if not name or len(name) > _LONGEST_NAME or "/" in name or not name.isprintable():
        refuse(f"{field}: use 1 to {_LONGEST_NAME} printable characters without a slash")
    return name


def refuse(sentence: str) -> NoReturn:
    """Say that the request is wrong."""
    raise Problem(400, "invalid_request", sentence)


def go_duration(text: str) -> int:
    """Read a duration as Go does, ``.5h`` and ``1.h`` too; ValueError with a sentence if none."""
    whole = re.sub(r"(?<![0-9])\.(?=[0-9])", "0.", text.removeprefix("+"))
    return parse_duration(re.sub(r"(?<=[0-9])\.(?![0-9])", "", whole))


def _object(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        refuse("the body: send one JSON object in UTF-8")
    return said


def _text(said: dict[str, Any], field: str) -> str:
    value = said.get(field)
    if not isinstance(value, str) or (not value and field != "data"):
        refuse(f"{field}: send a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        refuse(f"{field}: has half of a surrogate pair; send whole characters")
    return value


def _ttl(said: dict[str, Any], channels: ChannelSettings, default: int) -> int:
    value = said.get("ttl")
    if value is None:
        return min(default, channels.max_ttl)
    try:
        ttl = go_duration(value) if isinstance(value, str) else 0
    except ValueError:
        ttl = 0
    if not 0 < ttl <= channels.max_ttl:
        most = write_duration(channels.max_ttl)
        refuse(
            f"ttl: send a duration above zero such as 10m or 1h30m, of {most} at most "
            "(admin.channels.max_ttl)"
        )
    return ttl


def _instant(said: dict[str, Any], now: int) -> int | None:
    value = said.get("publishAt")
    if value is None:
        return None
    try:
        at = parse_instant(value if isinstance(value, str) else "", "publishAt", 0)
    except ConfigError as error:
        refuse(str(error))
    if value[:1] in "+-":
        refuse("publishAt: send an instant such as 2030-01-31T09:00:00Z, not a span")
    if at > now + FARTHEST:
        refuse("publishAt: is more than 100 years ahead; check the year")
    return at
