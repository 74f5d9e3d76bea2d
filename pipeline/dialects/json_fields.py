"""Reads the value of a record as one JSON object with known fields; others are ignored."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.json_text import (
    DEEPEST,
    STRICT,
    has_half_surrogate,
    is_whole_object,
    unquoted_member,
)
from pipeline.raw import RAW_VALUE
from pipeline.reasons import Reason
from pipeline.refuse import Rule

_FIELDS = "_fields"
_BROKEN = "_broken"
_OPTIONS = {**STRICT, "columnNameOfCorruptRecord": _BROKEN}


def field(name: str) -> Column:
    """Return a field; null when it is not given."""
    return F.col(_FIELDS)[name]


def value_text() -> Column:
    """Return the value of the record as text."""
    return F.col(RAW_VALUE).cast("string")


def with_fields(records: DataFrame, types: dict[str, str]) -> DataFrame:
    """Read the fields with these Spark types; text takes a number as it is, too."""
    columns = [f"{name}: {kind}" for name, kind in types.items()]
    schema = f"struct<{', '.join([*columns, f'{_BROKEN}: string'])}>"
    text = F.when(F.is_valid_utf8(value_text()), value_text())
    return records.withColumn(_FIELDS, F.from_json(text, schema, _OPTIONS))


def rules_of_fields(strings: tuple[str, ...], more: str = "") -> list[Rule]:
    """Return what every object must keep; the fields ``strings`` are strings or null."""
    sound = F.col(_FIELDS).isNotNull() & F.col(_FIELDS)[_BROKEN].isNull()
    readable = sound & is_whole_object(value_text()) & ~has_half_surrogate(value_text())
    return [
        Rule(
            ~readable,
            Reason.INVALID_JSON,
            "the value{value} is not one JSON object; send a single object in UTF-8, nothing after "
            f"it, no unpaired surrogates, and at most {DEEPEST} levels in each member{more}",
        ),
        Rule(
            _looks_unquoted(strings) & (unquoted(strings) != ""),
            Reason.INVALID_FIELD,
            "the field{unquoted} is not a string; send it in quotes",
        ),
    ]


def unquoted(strings: tuple[str, ...]) -> Column:
    """Return which of these fields is neither a string nor null, empty if none is."""
    return unquoted_member(value_text(), strings)


def _looks_unquoted(strings: tuple[str, ...]) -> Column:
    # Cheap, and true of a few objects too many.
    return value_text().rlike(rf'"(?:{"|".join(strings)})"\s*+:\s*+[^"n]')
