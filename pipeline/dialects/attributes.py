"""Reads the attributes of a CloudEvent, whichever of the two Kafka modes it was sent in."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.dialects.json_text import STRICT, has_half_surrogate, is_whole_object, raw_member
from pipeline.raw import RAW_HEADERS, RAW_VALUE

# What the session must be told, or a header that comes twice would stop the stream.
MAP_POLICY = ("spark.sql.mapKeyDedupPolicy", "LAST_WIN")

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
_NAMED = "_named"
_ATTRIBUTES = (*REQUIRED, "datacontenttype", *WISHES, *CARRIED, *UNSUPPORTED)
_FIELDS = (*_ATTRIBUTES, BASE64, _BROKEN)
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


def is_not_utf8() -> Column:
    """Tell whether an attribute of a binary event is not UTF-8."""
    said = F.concat_ws("\n", *[attribute(name) for name in _ATTRIBUTES])
    return (F.col(MODE) == BINARY) & ~F.is_valid_utf8(said)


def header_not_utf8() -> Column:
    """Return the name of a header that says an attribute but is not UTF-8, null if none."""
    broken = F.filter(F.col(RAW_HEADERS), _says_an_attribute_badly)
    return F.get(broken, F.lit(0))["key"]


def with_event(records: DataFrame) -> DataFrame:
    """Add MODE, EVENT (a struct of attributes as text) and DATA (how a JSON event wrote its data).

    Headers are looked up in a map: functions with a lambda are interpreted, and slow. Of two with
    one name the last counts, which the session must be told (see MAP_POLICY).
    """
    text, mode = F.col(RAW_VALUE).cast("string"), F.col(MODE)
    structured = (mode == STRUCTURED) & F.is_valid_utf8(text)
    options = {**STRICT, "columnNameOfCorruptRecord": _BROKEN}
    parsed = F.from_json(F.when(structured, text), _SCHEMA, options)
    return (
        records.withColumn(_NAMED, F.map_from_entries(F.col(RAW_HEADERS)))
        .withColumn(CONTENT_TYPE, F.lower(_header("content-type")))
        .withColumn(MODE, _mode())
        .withColumns(
            {
                EVENT: F.when(mode == BINARY, _of_headers()).otherwise(parsed),
                DATA: F.when(structured, raw_member(text, "data")),
            }
        )
    )


def _mode() -> Column:
    content_type = F.col(CONTENT_TYPE)
    marked = F.array_join(F.map_keys(F.col(_NAMED)), "\n").rlike(r"(?m)^ce_")
    return (
        F.when(F.col(RAW_VALUE).isNull(), TOMBSTONE)
        .when(content_type.rlike(_JSON_FORMAT), STRUCTURED)
        .when(F.contains(content_type, F.lit("application/cloudevents")), FOREIGN)
        .when(marked, BINARY)
        .when(content_type.isNull(), STRUCTURED)
        .otherwise(FOREIGN)
    )


def _of_headers() -> Column:
    said = {name: _header(f"ce_{name}") for name in _ATTRIBUTES}
    said["datacontenttype"] = _header("content-type")
    nothing = F.lit(None).cast("string")
    return F.struct(*[said.get(name, nothing).alias(name) for name in _FIELDS])


def _header(name: str) -> Column:
    return F.try_element_at(F.col(_NAMED), F.lit(name)).cast("string")


def _says_an_attribute_badly(header: Column) -> Column:
    return header["key"].rlike(_ATTRIBUTE_HEADER) & ~F.is_valid_utf8(header["value"].cast("string"))
