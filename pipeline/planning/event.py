"""Reads an event in structured mode, in either form, as the dialect does."""

from dataclasses import dataclass
from typing import NamedTuple

from pipeline.planning.members import (
    DEEPEST,
    NotAnObjectError,
    is_nested,
    members_of,
    scalar_text,
)
from pipeline.planning.refused import refuse
from pipeline.reasons import Reason
from state.rules.asked import ATTRIBUTES as POLICIES

REQUIRED = ("specversion", "id", "source", "type")
CARRIED = ("traceparent", "tracestate", "correlationid")
# What an event says of the message, and how the second form calls it.
IN_META = {
    "outputtopic": "outputTopic",
    "deliverat": "startAt",
    "delayby": "delayBy",
    "outputkey": "outputKey",
    "outputpartition": "outputPartition",
    "retrymax": "retryMax",
    "retryfor": "retryFor",
    "expirytime": "expiryTime",
    "expireafter": "expireAfter",
    "repeatevery": "repeatEvery",
    "repeatcron": "repeatCron",
    "repeattz": "repeatTz",
    "repeatuntil": "repeatUntil",
    "repeatfor": "repeatFor",
    "repeatcount": "repeatCount",
    "onmiss": "onMiss",
    "onsameid": "onSameId",
    "comparefield": "compareField",
    "mindeviation": "minDeviation",
    "settlefor": "settleFor",
    "settlemax": "settleMax",
}
WISHES = tuple(IN_META)

_FREE_TEXT = (*REQUIRED, "datacontenttype", "outputkey", *CARRIED)


class Said(NamedTuple):
    """What an event wishes, as text by attribute, and how its form calls the attributes."""

    wishes: dict[str, str]
    names: dict[str, str]
    second_form: bool
    content: str | None  # data, or in the second form its message, as it was written


@dataclass(frozen=True, slots=True)
class Event:
    """The members of an event, each as it was written."""

    members: dict[str, str]

    def text(self, name: str) -> str | None:
        """Return an attribute as text, None when it is not given."""
        return scalar_text(self.members.get(name))

    def said(self) -> Said:
        """Return what it wishes, from whichever form it has."""
        data = self.members.get("data", "")
        if self.text("outputtopic") is None and data.startswith("{"):
            inner = members_of(data)
            if inner.get("metaData", "").startswith("{"):
                meta = members_of(inner["metaData"])
                given = {name: scalar_text(meta.get(camel)) for name, camel in IN_META.items()}
                names = {name: f"metaData.{camel}" for name, camel in IN_META.items()}
                return Said(_known(given), names, True, inner.get("message"))
        given = {name: self.text(name) for name in WISHES}
        return Said(_known(given), {name: name for name in WISHES}, False, data or None)


def read_event(value: bytes) -> Event:
    """Read the value of a record; what is no event is refused."""
    event = Event(_members(value))
    for name in _FREE_TEXT:
        if is_nested(event.members.get(name)):
            refuse(
                Reason.INVALID_ATTRIBUTE,
                f"the attribute '{name}' is an object or an array; send text, a number or a "
                "boolean",
            )
    for name in REQUIRED:
        if not event.text(name):
            refuse(
                Reason.MISSING_ATTRIBUTE,
                f"{name} is missing or empty; every CloudEvent has specversion, id, source and "
                "type",
            )
    if event.text("specversion") != "1.0":
        said = event.text("specversion")
        refuse(Reason.UNSUPPORTED_SPECVERSION, f"specversion '{said}' is not known; send 1.0")
    return event


def policies_of(wishes: dict[str, str]) -> dict[str, str]:
    """Return what is asked for besides what, where to and when."""
    return {name: wishes[name] for name in POLICIES if name in wishes}


def _members(value: bytes) -> dict[str, str]:
    try:
        return members_of(value.decode())
    except (UnicodeDecodeError, NotAnObjectError):
        refuse(
            Reason.INVALID_JSON,
            "the value is not one JSON object; send a single object in UTF-8, nothing after it, no "
            f"unpaired surrogates, and at most {DEEPEST} levels in each member",
        )


def _known(given: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in given.items() if value is not None}
