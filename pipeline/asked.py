"""Reads what events ask for besides, on the driver: few do, and the rules are plain Python.

Spark carries the attributes as JSON in POLICY. Here a message gets its policy in the form that the
state keeps, and the instant at which it is first due; a command becomes what it says. What cannot
be read is refused like any other record.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.admit import AdmitRules
from pipeline.control import SAID_BY_COMMANDS, read_control
from pipeline.raw import CONTROL, VERDICT
from state.row import DUE, ENTRY, KEY, PAYLOAD, POLICY, SOURCE_TIMESTAMP
from state.rules.asked import Asked, Refused, read_asked
from state.rules.policy import Policy

__all__ = ["IN_SECOND_FORM", "SAID_BY_COMMANDS", "SERIES", "TIMED", "Asking", "with_policies"]

TIMED = "timed"  # the event says itself when it is due
IN_SECOND_FORM = "meta"  # it says so in data.metaData
SERIES = {"series": True}  # in the policy of every message of a repeat, the last one too

_READ = (ENTRY, KEY, PAYLOAD, DUE, SOURCE_TIMESTAMP, POLICY)


@dataclass(frozen=True, slots=True)
class Asking:
    """What may be asked for here, and how the second form calls it."""

    admit: AdmitRules
    endless_repeats: bool
    in_second_form: Mapping[str, str]


def with_policies(lines: pa.Table, asking: Asking) -> pa.Table:
    """Read the POLICY of every line that has one and is not refused yet."""
    wanted = pc.and_(pc.is_valid(lines[POLICY]), pc.is_null(lines[VERDICT]))
    places = pc.indices_nonzero(wanted).to_pylist()
    if not places:
        return lines
    columns = {name: lines[name].to_pylist() for name in (VERDICT, POLICY, DUE)}
    rows = lines.select(_READ).take(pa.array(places, pa.int64())).to_pylist()
    for place, row in zip(places, rows, strict=True):
        for name, value in _read(row, asking).items():
            columns[name][place] = value
    for name, values in columns.items():
        at = lines.schema.get_field_index(name)
        lines = lines.set_column(at, name, pa.array(values, lines.schema.field(name).type))
    return lines


def _read(row: dict[str, Any], asking: Asking) -> dict[str, Any]:
    """Return the columns that change."""
    said: dict[str, str] = json.loads(row[POLICY])
    if row[ENTRY] == CONTROL:
        control = read_control(said, row[KEY], row[SOURCE_TIMESTAMP], asking.admit.allows)
        if isinstance(control, Refused):
            return {VERDICT: _verdict(control), POLICY: None}
        return {POLICY: control.to_json()}
    asked = _asked(row, said, asking)
    if isinstance(asked, Refused):
        return {VERDICT: _verdict(asked), POLICY: None}
    return {POLICY: _marked(asked.policy).to_json(), DUE: asked.due}


def _asked(row: dict[str, Any], said: dict[str, str], asking: Asking) -> Asked | Refused:
    timed, second = said.pop(TIMED, None), said.pop(IN_SECOND_FORM, None)
    return read_asked(
        said,
        names=asking.in_second_form if second else None,
        due=row[DUE] if timed else None,
        timestamp=row[SOURCE_TIMESTAMP],
        payload=row[PAYLOAD],
        allow_forever=asking.endless_repeats,
    )


def _marked(policy: Policy) -> Policy:
    return policy if policy.repeat is None else replace(policy, others=json.dumps(SERIES))


def _verdict(refused: Refused) -> str:
    """Return the verdict; its sentence is complete, so no fact is filled in."""
    sentence = refused.sentence.replace("{", "{{").replace("}", "}}")
    return f"{refused.reason} {sentence}"
