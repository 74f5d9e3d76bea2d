"""Reads the attributes of a CloudEvent, whichever of the two Kafka modes it was sent in."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from pipeline.commands import ATTRIBUTES as COMMANDED
from pipeline.dialects.headers import last_of_each
from pipeline.dialects.json_text import STRICT, has_half_surrogate, is_whole_object, raw_member
from pipeline.raw import RAW_HEADERS, RAW_VALUE
from state.rules.asked import ATTRIBUTES as POLICIES

# Private columns.
MODE = "_mode"
EVENT = "_event"
DATA = "_data"
CONTENT_TYPE = "_content_type"

# Modes of a record.
TOMBSTONE = "tombstone"
STRUCTURED = "structured"
BINARY = "binary"
FOREIGN = "foreign"

REQUIRED = ("specversion", "id", "source", "type")
CARRIED = ("traceparent", "tracestate", "correlationid")
WISHES = (
    "outputtopic",
    "deliverat",
    "delayby",
    "outputkey",
    "outputpartition",
    *POLICIES,
)
BASE64 = "data_base64"

_BROKEN = "_broken"
_NAMED = "_named"
_ATTRIBUTES = (*REQUIRED, "datacontenttype", *WISHES, *CARRIED, *COMMANDED)
_JSON_FORMAT = r"\A\s*+application/cloudevents(?:\+json)?\s*+(?:;.*)?\z"
_FIELDS = (*_ATTRIBUTES, BASE64, _BROKEN)
_SCHEMA = StructType([StructField(name, StringType()) for name in _FIELDS])
_OPTIONS = {**STRICT, "columnNameOfCorruptRecord": _BROKEN}
_REPLACED = "\N{REPLACEMENT CHARACTER}"


def attribute(name: str) -> Column:
    """Return an attribute as text, null when it is not given."""
    return F.col(EVENT)[name]


def is_readable() -> Column:
    """Tell whether the value of a structured event is one JSON object in UTF-8."""
    text = F.col(RAW_VALUE).cast("string")
    whole = (F.col(DATA) != "") | is_whole_object(text)
    sound = F.col(EVENT).isNotNull() & F.col(EVENT)[_BROKEN].isNull()
    return sound & whole & ~has_half_surrogate(text)


def is_not_utf8() -> Column:
    """Tell whether an attribute of a binary event is not UTF-8."""
    suspect = ~F.is_valid_utf8(F.array_join(F.map_values(F.col(_NAMED)), "\n"))
    return (F.col(MODE) == BINARY) & suspect & F.contains(F.to_json(EVENT), F.lit(_REPLACED))


def with_event(records: DataFrame) -> DataFrame:
    """Add MODE, EVENT (a struct of attributes as text) and DATA (how a JSON event wrote its data).

    Of two headers with one name the last counts.
    """
    text, mode, named = F.col(RAW_VALUE).cast("string"), F.col(MODE), F.col(_NAMED)
    structured = (mode == STRUCTURED) & F.is_valid_utf8(text)
    of_value = F.from_json(F.when(structured, text), _SCHEMA, _OPTIONS)
    of_headers = F.struct(*[_in_headers(named, name).alias(name) for name in _FIELDS])
    return (
        records.withColumn(_NAMED, last_of_each(F.col(RAW_HEADERS)).cast("map<string,string>"))
        .withColumn(CONTENT_TYPE, F.lower(F.try_element_at(named, F.lit("content-type"))))
        .withColumn(MODE, _mode())
        .withColumns(
            {
                EVENT: F.when(mode == BINARY, of_headers).otherwise(of_value),
                DATA: F.when(structured, raw_member(text, "data")),
            }
        )
    )


def _mode() -> Column:
    content_type = F.col(CONTENT_TYPE)
    marked = F.array_join(F.col(RAW_HEADERS)["key"], "\n").rlike(r"(?m)^ce_")
    return (
        F.when(F.col(RAW_VALUE).isNull(), TOMBSTONE)
        .when(content_type.rlike(_JSON_FORMAT), STRUCTURED)
        .when(F.contains(content_type, F.lit("application/cloudevents")), FOREIGN)
        .when(marked, BINARY)
        .when(content_type.isNull(), STRUCTURED)
        .otherwise(FOREIGN)
    )


def _in_headers(named: Column, name: str) -> Column:
    """Return an attribute of a binary event; its data is never in a header."""
    if name in (BASE64, _BROKEN):
        return F.lit(None).cast("string")
    return named["content-type" if name == "datacontenttype" else f"ce_{name}"]
