"""Reads what a message is to be: where to, when and what, by the rules of the dialect."""

import re
from base64 import b64decode
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from pipeline.clock import FARTHEST
from pipeline.planning.event import WISHES, Event, Said
from pipeline.planning.members import is_nested, scalar_text
from pipeline.planning.refused import refuse
from pipeline.reasons import Reason
from state.duration import FOREVER, parse_duration
from state.rules.instant import parse_instant

_EPOCH = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,9})?(?:[eE]\+?[0-9]{1,2})?")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_RETRIES = re.compile(r"[0-9]{1,6}")
_PARTITION = re.compile(r"[0-9]{1,10}")
_LARGEST = 2**31 - 1  # a partition
_SECONDS = 10**19  # more than Spark's decimals hold


@dataclass(frozen=True, slots=True)
class Message:
    """A message as its event wants it; ``due`` is None where neither instant nor delay is given."""

    topic: str
    key: str | None
    partition: int | None
    payload: bytes | None
    due: int | None


def read_message(event: Event, said: Said, timestamp: int) -> Message:
    """Read the message of an event whose record bears ``timestamp``; the first rule broken counts.

    Whether a repeat or a policy can be followed is not looked at here.
    """
    _check_choice(event, said)
    due = _due(said, timestamp)
    partition = _partition(said)
    _check_retries(said)
    return Message(
        said.wishes["outputtopic"],
        said.wishes.get("outputkey"),
        partition,
        _payload(event, said),
        due,
    )


def _check_choice(event: Event, said: Said) -> None:
    wishes, names = said.wishes, said.names
    if said.second_form and any(event.text(name) is not None for name in WISHES):
        refuse(
            Reason.CONFLICTING_ATTRIBUTES,
            "an attribute that says where, when or how stands beside data.metaData; say all of it "
            "in one of the two places",
        )
    if not wishes.get("outputtopic"):
        refuse(
            Reason.MISSING_ATTRIBUTE,
            f"{names['outputtopic']} is missing or empty; name the topic to publish to",
        )
    if "deliverat" in wishes and "delayby" in wishes:
        refuse(
            Reason.CONFLICTING_ATTRIBUTES,
            f"{names['deliverat']} '{wishes['deliverat']}' and {names['delayby']} "
            f"'{wishes['delayby']}' are both given; send one of them",
        )
    has_data = event.members.get("data", "null") != "null"
    if has_data and event.text("data_base64") is not None:
        refuse(
            Reason.CONFLICTING_ATTRIBUTES, "data and data_base64 are both given; send one of them"
        )


def _due(said: Said, timestamp: int) -> int | None:
    due = due_of(said.wishes, said.names, timestamp, epoch=said.second_form)
    if due is not None and due - timestamp > FARTHEST:
        name = "deliverat" if "deliverat" in said.wishes else "delayby"
        refuse(
            Reason.TIME_OUT_OF_RANGE,
            f"{said.names[name]} '{said.wishes[name]}' is more than 100 years ahead; check the "
            "unit: a bare number is seconds since the epoch, not milliseconds",
        )
    return due


def due_of(
    wishes: dict[str, str], names: dict[str, str], timestamp: int, *, epoch: bool = False
) -> int | None:
    """Return what ``deliverat`` or ``delayby`` comes to; ``epoch``: a bare number is seconds."""
    at, delay = wishes.get("deliverat"), wishes.get("delayby")
    try:
        if at is not None:
            return _seconds(at) if epoch and _EPOCH.fullmatch(at) else parse_instant(at)
    except ValueError:
        refuse(
            Reason.INVALID_TIME,
            f"{names['deliverat']} '{at}' is not an instant; write it as 2030-01-31T09:00:00Z, "
            "with an offset and without leap seconds",
        )
    try:
        return None if delay is None else timestamp + parse_duration(delay)
    except ValueError:
        refuse(
            Reason.INVALID_DURATION,
            f"{names['delayby']} '{delay}' is not a duration; write for example PT15M, P7D, 90s or "
            "1h30m",
        )


def _seconds(text: str) -> int:
    seconds = Decimal(text)
    if abs(seconds) >= _SECONDS:
        return FOREVER
    micros = int((seconds * 1_000_000).to_integral_value(ROUND_CEILING))
    return FOREVER if abs(micros) >= 2**63 else min(micros, FOREVER)


def _partition(said: Said) -> int | None:
    text = said.wishes.get("outputpartition")
    if text is None:
        return None
    if not _PARTITION.fullmatch(text) or int(text) > _LARGEST:
        refuse(
            Reason.INVALID_PARTITION,
            f"{said.names['outputpartition']} '{text}' is not a partition; send a whole number "
            "from 0",
        )
    return int(text)


def _check_retries(said: Said) -> None:
    most, long = said.wishes.get("retrymax"), said.wishes.get("retryfor")
    if most is not None and not _RETRIES.fullmatch(most):
        refuse(
            Reason.INVALID_RETRY,
            f"{said.names['retrymax']} '{most}' is not a number of retries; send a whole number "
            "from 0",
        )
    try:
        parse_duration("0s" if long is None else long)
    except ValueError:
        refuse(
            Reason.INVALID_RETRY,
            f"{said.names['retryfor']} '{long}' is not a duration; write for example PT1H or 90s",
        )


def _payload(event: Event, said: Said) -> bytes | None:
    encoded = event.text("data_base64")
    if encoded is not None and (not _BASE64.fullmatch(encoded) or len(encoded) % 4):
        refuse(
            Reason.INVALID_BASE64,
            f"data_base64 '{encoded[:80]}' is not base64; encode it with the standard letters and "
            "with padding",
        )
    if said.second_form and is_nested(said.content):
        refuse(
            Reason.INVALID_MESSAGE,
            "data.message is an object or an array; send it as a string that holds the JSON text",
        )
    if encoded is not None:
        return b64decode(encoded)
    text = scalar_text(said.content)
    return None if text is None else text.encode()
