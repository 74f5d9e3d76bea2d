"""Reads schedules of kafka-message-scheduler in JSON: bytes are base64, with padding or without."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.json_fields import field, rules_of_fields, unquoted, with_fields
from pipeline.dialects.kms import TIME, TOPIC, content_of_kms, rules_of_kms, with_due, without_marks
from pipeline.dialects.record import as_it_came, foreign_lines
from pipeline.reasons import Reason
from pipeline.refuse import Rule

_TYPES = {
    "time": "string",
    "topic": "string",
    "key": "string",
    "value": "string",
    "headers": "map<string, string>",
}
_STRINGS = ("topic", "key", "value")
_LETTERS = "[A-Za-z0-9+/]"
_BASE64 = rf"\A{_LETTERS}*+={{0,2}}\z"
_ALL_OF_THEM = rf"\A(?:(?:{_LETTERS}{{4}})*+(?:{_LETTERS}{{2}}(?:==)?|{_LETTERS}{{3}}=?)?,)*+\z"


def decode(records: DataFrame) -> DataFrame:
    """Turn Kafka records into commands, as pipeline.dialects.cloudevents does."""
    content = content_of_kms(_bytes("key"), _bytes("value"), _headers())
    return (
        records.transform(without_marks)
        .transform(as_it_came)
        .transform(with_fields, _TYPES)
        .withColumns({TIME: field("time"), TOPIC: field("topic")})
        .transform(with_due)
        .transform(foreign_lines, _rules(), content, _facts())
    )


def is_base64(text: Column) -> Column:
    """Tell whether ``text`` is base64 of the standard letters, with its padding or without any."""
    left, padded = F.length(text) % 4, F.endswith(text, F.lit("="))
    return text.rlike(_BASE64) & ((left == 0) | (~padded & (left != 1)))


def _rules() -> list[Rule]:
    values = F.array_join(F.map_values(field("headers")), ",", "?")
    return [
        *rules_of_fields(_STRINGS, "; headers is an object of strings, or null"),
        *rules_of_kms(),
        Rule(
            field("key").isNull(),
            Reason.MISSING_FIELD,
            "key is missing; send the key of the message in base64, empty if it has none",
        ),
        *[
            Rule(
                ~is_base64(field(name)),
                Reason.INVALID_BASE64,
                f"{name}{{base64_{name}}} is not base64; encode it with the standard letters",
            )
            for name in ("key", "value")
        ],
        Rule(
            (F.size(field("headers")) > 0) & ~F.concat(values, F.lit(",")).rlike(_ALL_OF_THEM),
            Reason.INVALID_BASE64,
            "a value of headers{headers} is not base64; encode each with the standard letters",
        ),
    ]


def _headers() -> Column:
    given = F.transform(
        F.map_entries(field("headers")),
        lambda entry: F.struct(
            entry["key"].alias("key"), F.unbase64(entry["value"]).alias("value")
        ),
    )
    return F.when(F.size(field("headers")) > 0, given)


def _bytes(name: str) -> Column:
    return F.unbase64(field(name))


def _facts() -> dict[str, Column]:
    return {
        "time": field("time"),
        "base64_key": field("key"),
        "base64_value": field("value"),
        "headers": F.to_json(field("headers")),
        "unquoted": unquoted(_STRINGS),
    }
