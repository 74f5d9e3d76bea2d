"""Writes the JSON Schema of events: ``python -m pipeline.schema > conf/event.schema.json``.

It is for editors and for tests of producers. What it accepts the job may still refuse, by a rule
that a schema cannot say. What the job takes it accepts, if texts are written as strings and the
names of policies in lower case.
"""

import json
import sys
from typing import Any

from pipeline.commands import ACTOR, IF_VERSION, REASON, REPLY_TO, SCOPE, Command, Scope
from pipeline.planning.event import CARRIED, IN_META, REQUIRED
from state.rules.repeat import OnMiss
from state.rules.same_policy import SETTLING, SamePolicy

Schema = dict[str, Any]

INSTANT = (
    r"^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.[0-9]{1,9})?(?:[Zz]|[+-](?:(?:0[0-9]|1[0-7]):[0-5][0-9]|18:00))$"
)
DURATION = (
    r"^(?:P(?=[0-9T])(?:[0-9]+W)?(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?"
    r"(?:[0-9]+(?:[.,][0-9]{1,9})?S)?)?|(?:[0-9]+(?:\.[0-9]{1,9})?(?:ns|us|µs|μs|ms|s|m|h|d))+)$"
)
TOPIC = r"^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$"
VERSION = r"^[0-9]{1,10}-[0-9]{1,19}$"

MEANINGS = {
    "outputtopic": "where to publish",
    "deliverat": "when: an RFC 3339 instant with an offset",
    "delayby": "or how long after the record's timestamp",
    "outputkey": "key of the message; without it the record's key",
    "outputpartition": "partition of the message; without it the partitioner chooses by key",
    "retrymax": "how often it is tried again when Kafka refuses it",
    "retryfor": "for how long it is tried again, from the first attempt on",
    "expirytime": "not sent from this instant on",
    "expireafter": "not sent once it is so late; of a repeat: each occurrence",
    "repeatevery": "again each time after so long, at least 100ms",
    "repeatcron": "again by a cron expression",
    "repeattz": "the time zone of the cron expression; without it UTC",
    "repeatuntil": "not again after this instant",
    "repeatfor": "not again later than so long after the first occurrence",
    "repeatcount": "so often in all",
    "onmiss": "what to send of occurrences that were missed",
    "onsameid": "what it does to a pending message of its key",
    "comparefield": "JSON path of what is compared; without it the whole payload",
    "mindeviation": "the least change that counts, a number or a part such as 5%",
    "settlefor": "how long to wait for others of its key",
    "settlemax": "at most so long after the first of them came",
}
EXCLUDING = (
    ("deliverat", "delayby"),
    ("repeatevery", "repeatcron"),
    ("repeatuntil", "repeatfor"),
    ("expirytime", "expireafter"),
)
_REPEATING = ("repeatevery", "repeatcron")
NEEDING = {
    "repeattz": ("repeatcron",),
    "repeatuntil": _REPEATING,
    "repeatfor": _REPEATING,
    "repeatcount": _REPEATING,
    "onmiss": _REPEATING,
}

_SCALAR: Schema = {"type": ["string", "number", "boolean"]}
_NAMED: Schema = {"type": ["string", "number"], "minLength": 1}


def event_schema() -> Schema:
    """Return the schema of all that may be sent to an input topic in structured mode."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:duestream:event:v1",
        "title": "An event for duestream: a message to be published later, or a command",
        "type": "object",
        "required": list(REQUIRED),
        "properties": {
            "specversion": {"const": "1.0"},
            "id": _NAMED,
            "source": _NAMED,
            "type": _NAMED,
            "datacontenttype": _optional(_SCALAR),
            **{name: _optional(_SCALAR) for name in CARRIED},
        },
        "if": {"properties": {"type": {"enum": [command.type for command in Command]}}},
        "then": {"$ref": "#/$defs/command"},
        "else": {
            "if": _given("outputtopic"),
            "then": {"$ref": "#/$defs/message"},
            "else": {"$ref": "#/$defs/secondForm"},
        },
        "$defs": {
            "message": _message(),
            "secondForm": _second_form(),
            "command": _command(),
            "instant": {"type": "string", "pattern": INSTANT},
            "duration": {"type": "string", "pattern": DURATION},
            "topic": {"type": "string", "pattern": TOPIC},
        },
    }


def schema_text() -> str:
    """Return the schema as the file has it."""
    return json.dumps(event_schema(), indent=2, ensure_ascii=False) + "\n"


def _message() -> Schema:
    content = {
        "data": True,
        "data_base64": _optional({"type": "string", "pattern": "^[A-Za-z0-9+/]*={0,2}$"}),
    }
    both = _not_both("data", "data_base64")
    return {
        "title": "A message, said in attributes",
        "properties": {**_wishes({name: name for name in IN_META}), **content},
        "allOf": [*_rules({name: name for name in IN_META}), both],
    }


def _second_form() -> Schema:
    meta = {
        "type": "object",
        "required": [IN_META["outputtopic"]],
        "properties": _wishes(IN_META),
        "allOf": _rules(IN_META),
    }
    return {
        "title": "A message, said in data.metaData",
        "required": ["data"],
        "properties": {
            "data": {
                "type": "object",
                "required": ["metaData"],
                "properties": {"message": _optional(_SCALAR), "metaData": meta},
            }
        },
        "not": {"anyOf": [_given(name) for name in IN_META]},
    }


def _command() -> Schema:
    of_topic = {"properties": {SCOPE: {"const": Scope.TOPIC.value}}, "required": [SCOPE]}
    return {
        "title": "A command about what is pending under the record's key",
        "properties": {
            "type": {"enum": [command.type for command in Command]},
            REASON: _optional({**_SCALAR, "description": "why, in a person's words"}),
            ACTOR: _optional({**_SCALAR, "description": "who; without it the event's source"}),
            IF_VERSION: _optional(
                {
                    "type": "string",
                    "pattern": VERSION,
                    "description": "partition-offset of the record that made the message",
                }
            ),
            REPLY_TO: _optional(_ref("topic", "a topic, allowed as an output, for the result")),
            SCOPE: _optional({"enum": [scope.value for scope in Scope]}),
        },
        "allOf": [
            {"if": of_topic, "then": _given("outputtopic")},
            {"if": _of_type(Command.RESCHEDULE), "then": _rescheduled()},
        ],
    }


def _rescheduled() -> Schema:
    return {
        "properties": {
            "deliverat": _optional(_ref("instant")),
            "delayby": _optional(_ref("duration")),
        },
        "oneOf": [_given("deliverat"), _given("delayby")],
    }


def _wishes(names: dict[str, str]) -> Schema:
    """Return the properties of a message; ``names`` says how the form calls the attributes."""
    kinds = {
        "outputtopic": _ref("topic"),
        "deliverat": _ref("instant") if names["deliverat"] == "deliverat" else _start_at(),
        "delayby": _ref("duration"),
        "outputkey": _SCALAR,
        "outputpartition": _whole(0, 10),
        "retrymax": _whole(0, 6),
        "retryfor": _ref("duration"),
        "expirytime": _ref("instant"),
        "expireafter": _ref("duration"),
        "repeatevery": _ref("duration"),
        "repeatcron": {"type": "string", "maxLength": 512},
        "repeattz": {"type": "string", "minLength": 1},
        "repeatuntil": _ref("instant"),
        "repeatfor": _ref("duration"),
        "repeatcount": _whole(1, 9),
        "onmiss": {"enum": [on_miss.value for on_miss in OnMiss]},
        "onsameid": {"enum": [policy.value for policy in SamePolicy]},
        "comparefield": {"type": "string", "minLength": 1, "maxLength": 256},
        "mindeviation": {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": "^[0-9]{1,30}(?:\\.[0-9]{1,30})?%?$"},
            ]
        },
        "settlefor": _ref("duration"),
        "settlemax": _ref("duration"),
    }
    return {
        names[name]: _optional({**kind, "description": MEANINGS[name]})
        for name, kind in kinds.items()
    }


def _rules(names: dict[str, str]) -> list[Schema]:
    """Return which attributes exclude, and which need one another."""
    settling = [policy.value for policy in SamePolicy if policy in SETTLING]
    small = SamePolicy.IGNORE_SMALL_CHANGE.value
    timed = [_given(names[name]) for name in ("deliverat", "delayby", *_REPEATING)]
    same = names["onsameid"]
    return [
        *[_not_both(names[one], names[other]) for one, other in EXCLUDING],
        *[
            {"if": _given(names[name]), "then": {"anyOf": [_given(names[n]) for n in needed]}}
            for name, needed in NEEDING.items()
        ],
        {
            "if": _says(same, settling),
            "then": {**_given(names["settlefor"]), "not": {"anyOf": timed}},
            "else": {"not": _given(names["settlefor"])},
        },
        {"if": _given(names["settlemax"]), "then": _says(same, [SamePolicy.SETTLE.value])},
        {
            "if": _says(same, [small]),
            "then": {"allOf": [_given(names["comparefield"]), _given(names["mindeviation"])]},
            "else": {"not": _given(names["mindeviation"])},
        },
        {
            "if": _given(names["comparefield"]),
            "then": _says(same, [SamePolicy.IGNORE_DUPLICATE.value, small]),
        },
    ]


def _start_at() -> Schema:
    seconds = {"type": "string", "pattern": r"^-?[0-9]{1,30}(?:\.[0-9]{1,9})?$"}
    return {"anyOf": [_ref("instant"), {"type": "number"}, seconds]}


def _whole(least: int, digits: int) -> Schema:
    text = {"type": "string", "pattern": f"^[0-9]{{1,{digits}}}$"}
    number = {"type": "integer", "minimum": least, "maximum": 10**digits - 1}
    return {"anyOf": [number, text]}


def _ref(name: str, description: str | None = None) -> Schema:
    said = {} if description is None else {"description": description}
    return {"$ref": f"#/$defs/{name}", **said}


def _optional(schema: Schema) -> Schema:
    """Allow null, which is the same as leaving the attribute out."""
    return {"anyOf": [schema, {"type": "null"}]}


def _given(name: str) -> Schema:
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}


def _says(name: str, values: list[str]) -> Schema:
    return {"required": [name], "properties": {name: {"enum": values}}}


def _not_both(one: str, other: str) -> Schema:
    return {"not": {"allOf": [_given(one), _given(other)]}}


def _of_type(command: Command) -> Schema:
    return {"properties": {"type": {"const": command.type}}}


if __name__ == "__main__":
    sys.stdout.write(schema_text())
