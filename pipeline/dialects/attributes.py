"""Reads the attributes of a CloudEvent, whichever of the two Kafka modes it was sent in."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.json_text import STRICT, has_half_surrogate, is_whole_object, raw_member
from pipeline.raw import RAW_HEADERS, RAW_VALUE

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
WISHES = ("outputtopic", "deliverat", "delayby", "outputkey", "outputpartition")
# Understood, and not there yet: refused by name rather than passed over in silence.
UNSUPPORTED = (
    "expirytime",
    "repeatevery",
    "repeatcron",
    "repeattz",
    "repeatuntil",
    "repeatfor",
    "repeatcount",
    "onsameid",
    "comparefield",
    "mindeviation",
    "settlefor",
)
BASE64 = "data_base64"

_BROKEN = "_broken"
_FIELDS = (*REQUIRED, "datacontenttype", *WISHES, *CARRIED, *UNSUPPORTED, BASE64, _BROKEN)
_SCHEMA = f"struct<{', '.join(f'{name}: string' for name in _FIELDS)}>"
_JSON_FORMAT = r"\A\s*+application/cloudevents(?:\+json)?\s*+(?:;.*)?\z"
_ATTRIBUTE_HEADER = r"\A(?:ce_[a-z0-9]+|content-type)\z"


def attribute(name: str) -> Column:
    """Return an attribute as text, null when it is not given."""
    return F.col(EVENT)[name]


def is_readable() -> Column:
    """Tell whether the value of a structured event is one JSON object in UTF-8."""
    text = F.col(RAW_VALUE).cast("string")
    whole = (F.col(DATA) != "") | is_whole_object(text)
    sound = F.col(EVENT).isNotNull() & F.col(EVENT)[_BROKEN].isNull()
    return sound & whole & ~has_half_surrogate(text)


def header_not_utf8() -> Column:
    """Return the name of a header that says an attribute but is not UTF-8, null if none."""
    broken = F.filter(F.col(RAW_HEADERS), lambda header: _says_an_attribute(header, valid=False))
    return F.get(broken, F.lit(0))["key"]


def with_event(records: DataFrame) -> DataFrame:
    """Add MODE, EVENT (a struct of attributes as text) and DATA (how a JSON event wrote its data).

    The attributes of a binary event are written as JSON first: both modes are read by one parser.
    """
    text, mode = F.col(RAW_VALUE).cast("string"), F.col(MODE)
    structured = (mode == STRUCTURED) & F.is_valid_utf8(text)
    json = F.when(structured, text).when(mode == BINARY, _headers_as_json())
    options = {**STRICT, "columnNameOfCorruptRecord": _BROKEN}
    return (
        records.withColumn(CONTENT_TYPE, F.lower(_content_type()))
        .withColumn(MODE, _mode())
        .withColumns(
            {
                EVENT: F.from_json(json, _SCHEMA, options),
                DATA: F.when(structured, raw_member(text, "data")),
            }
        )
    )


def _content_type() -> Column:
    named_so = F.filter(F.col(RAW_HEADERS), lambda header: header["key"] == "content-type")
    return F.try_element_at(named_so, F.lit(-1))["value"].cast("string")


def _mode() -> Column:
    content_type = F.col(CONTENT_TYPE)
    marked = F.exists(F.col(RAW_HEADERS), lambda header: F.startswith(header["key"], F.lit("ce_")))
    return (
        F.when(F.col(RAW_VALUE).isNull(), TOMBSTONE)
        .when(content_type.rlike(_JSON_FORMAT), STRUCTURED)
        .when(F.contains(content_type, F.lit("application/cloudevents")), FOREIGN)
        .when(marked, BINARY)
        .when(content_type.isNull(), STRUCTURED)
        .otherwise(FOREIGN)
    )


def _headers_as_json() -> Column:
    said = F.filter(F.col(RAW_HEADERS), lambda header: _says_an_attribute(header, valid=True))
    return F.concat(F.lit("{"), F.array_join(F.transform(said, _as_member), ","), F.lit("}"))


def _says_an_attribute(header: Column, valid: bool) -> Column:
    text = header["value"].cast("string")
    return header["key"].rlike(_ATTRIBUTE_HEADER) & (F.is_valid_utf8(text) == valid)


def _as_member(header: Column) -> Column:
    is_content_type = header["key"] == "content-type"
    name = F.when(is_content_type, "datacontenttype").otherwise(F.substring(header["key"], 4, 249))
    quoted = F.to_json(F.struct(header["value"].cast("string").alias("v")))  # {"v":"..."}
    text = F.substring(quoted, F.lit(6), F.length(quoted) - 6)
    return F.concat(F.lit('"'), name, F.lit('":'), text)
