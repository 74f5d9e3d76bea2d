"""Writes a row of the state for programs: texts, RFC 3339 instants, base64 where it is no text."""

from base64 import b64encode
from datetime import datetime
from typing import Any

from pipeline.clock import exact_text
from pipeline.commands import version_text
from pipeline.config.spans import write_duration
from pipeline.keys import key_text
from pipeline.paused import is_paused
from pipeline.reasons import sentence_of
from state import clock
from state import row as r
from state.readable import late_by
from state.rules.policy import Policy
from state.rules.repeat import Repeat

Row = dict[str, Any]

_FIRST = -62_135_596_800_000_000  # the year 1


def shown(row: Row, *, hide: bool = False, payload: bool = True) -> Row:
    """Return one message; ``hide`` keeps payload and values of headers back (hide_payload).

    Without ``payload`` it is not written out. Rows of a list may lack payload, headers and the key
    of the output altogether.
    """
    whole: bytes | None = row.get(r.PAYLOAD)
    content = whole if payload and not hide else None
    output_key, headers = row.get(r.OUTPUT_KEY), row.get(r.HEADERS) or []
    return {
        "key": key_text(row[r.KEY]),
        "source": row[r.SOURCE_TOPIC],
        "partition": row[r.SOURCE_PARTITION],
        "offset": row[r.SOURCE_OFFSET],
        "version": version_text(row[r.SOURCE_PARTITION], row[r.SOURCE_OFFSET]),
        "occurrence": row[r.OCCURRENCE],
        "kind": row[r.KIND],
        "status": row[r.STATUS],
        "topic": row[r.OUTPUT_TOPIC],
        "output_key": None if output_key is None else key_text(output_key),
        "output_partition": row[r.OUTPUT_PARTITION],
        **_times(row),
        **_ending(discreet(row, hide)),
        **_policy(row),
        "headers": [_header(each, hide) for each in headers] if r.HEADERS in row else None,
        "payload_bytes": None if whole is None else len(whole),
        "payload_hidden": hide,
        **as_text("payload", content),
    }


def discreet(row: Row, hide: bool) -> Row:
    """Return a row that tells nothing of a hidden payload: why a record was refused may quote it.

    What is not admitted is then told by what its reason means in general.
    """
    if not hide or row[r.KIND] != r.Kind.REJECTION:
        return row
    return row | {r.DETAIL: sentence_of(row[r.REASON])}


def as_text(name: str, raw: bytes | None) -> dict[str, str | None]:
    """Return bytes under their name if they are text, else in base64 under NAME_base64."""
    if raw is None:
        return {name: None, f"{name}_base64": None}
    try:
        return {name: raw.decode(), f"{name}_base64": None}
    except UnicodeDecodeError:
        return {name: None, f"{name}_base64": b64encode(raw).decode()}


def instant(micros: int | None) -> str | None:
    """Write an instant, None where there is none or no calendar has it."""
    return exact_text(micros) if micros is not None and _FIRST <= micros < r.PARKED else None


def micros_of(time: datetime | None) -> Any:
    """Return a time of a table in microseconds; None stays None."""
    return None if time is None else clock.micros_of(time)


def _times(row: Row) -> Row:
    return {
        "due": instant(row[r.DUE]),
        "scheduled": instant(row[r.SCHEDULED]),
        "paused": row[r.STATUS] in r.LIVE and is_paused(row),
        "received_at": instant(row[r.SOURCE_TIMESTAMP]),
        "changed_at": instant(row[r.CHANGED_AT]),
    }


def _ending(row: Row) -> Row:
    late = late_by(row)
    receipt = {
        "partition": row[r.PUBLISHED_PARTITION],
        "offset": row[r.PUBLISHED_OFFSET],
        "at": instant(row[r.PUBLISHED_AT]),
        "late_ms": None if late is None else late / 1_000,
    }
    return {
        "attempts": row[r.ATTEMPT] or 0,
        "attempted_at": list(filter(None, map(instant, row[r.ATTEMPTED_AT] or []))),
        "reason": row[r.REASON],
        "detail": row[r.DETAIL],
        "receipt": None if row[r.PUBLISHED_OFFSET] is None else receipt,
    }


def _policy(row: Row) -> Row:
    policy = Policy.from_json(row[r.POLICY])
    same = policy.same.policy.value
    return {
        "repeat": None if policy.repeat is None else _repeat(policy.repeat),
        "expires": instant(policy.expires),
        "on_same_id": None if same == "replace" else same,
    }


def _repeat(repeat: Repeat) -> Row:
    return {
        "every": None if repeat.every is None else write_duration(repeat.every),
        "cron": repeat.cron,
        "tz": None if repeat.cron is None else repeat.tz,
        "until": instant(repeat.until),
        "count": repeat.count,
        "on_miss": repeat.on_miss.value,
    }


def _header(header: Row, hide: bool) -> Row:
    return {"key": header["key"], **as_text("value", None if hide else header["value"])}
