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
_NAMES = "_header_names"
_VALUES = "_header_values"

# Modes of a record.
TOMBSTONE = "tombstone"
STRUCTURED = "structured"
BINARY = "binary"
FOREIGN = "foreign"

REQUIRED = ("id", "source", "type")
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
ATTRIBUTES = ("specversion", *REQUIRED, "datacontenttype", *WISHES, *CARRIED, *UNSUPPORTED)

BASE64 = "data_base64"
_BROKEN = "_broken"
_IN_JSON = (*ATTRIBUTES, BASE64, _BROKEN)
_SCHEMA = f"struct<{', '.join(f'{name}: string' for name in _IN_JSON)}>"
_JSON_FORMAT = r"\Aapplication/cloudevents(?:\+json)?\s*+(?:;.*)?\z"
_MARKS = tuple(f"ce_{name}" for name in ("specversion", *REQUIRED))


def attribute(name: str) -> Column:
    """Return an attribute as text, null when it is not given."""
    return F.col(EVENT)[name]


def is_readable() -> Column:
    """Tell whether the value of a structured event is one JSON object in UTF-8."""
    text = F.col(RAW_VALUE).cast("string")
    whole = F.col(DATA).isNotNull() | is_whole_object(text)
    sound = F.col(EVENT).isNotNull() & F.col(EVENT)[_BROKEN].isNull()
    return sound & whole & ~has_half_surrogate(text)


def with_mode(records: DataFrame) -> DataFrame:
    """Add how the record says its event: MODE, and the lower-case CONTENT_TYPE."""
    headers = F.reverse(F.col(RAW_HEADERS))  # the last header of a name is the one that counts
    return (
        records.withColumns({_NAMES: headers["key"], _VALUES: headers["value"]})
        .withColumn(CONTENT_TYPE, F.lower(F.trim(_header("content-type"))))
        .withColumn(MODE, _mode())
    )


def with_event(records: DataFrame) -> DataFrame:
    """Add EVENT, a struct of all attributes as text, and DATA, the text of a JSON event's data."""
    parsed = records.withColumn(EVENT, _parsed())
    return parsed.withColumns(
        {
            EVENT: F.when(F.col(MODE) == BINARY, _from_headers()).otherwise(F.col(EVENT)),
            DATA: F.when(
                (F.col(MODE) == STRUCTURED) & F.col(EVENT)[_BROKEN].isNull(),
                raw_member(F.col(RAW_VALUE).cast("string"), "data"),
            ),
        }
    )


def _mode() -> Column:
    content_type = F.col(CONTENT_TYPE)
    marked = F.arrays_overlap(F.col(_NAMES), F.array(*map(F.lit, _MARKS)))
    return (
        F.when(F.col(RAW_VALUE).isNull(), TOMBSTONE)
        .when(content_type.rlike(_JSON_FORMAT), STRUCTURED)
        .when(F.startswith(content_type, F.lit("application/cloudevents")), FOREIGN)
        .when(marked, BINARY)
        .when(content_type.isNull(), STRUCTURED)
        .otherwise(FOREIGN)
    )


def _parsed() -> Column:
    text = F.col(RAW_VALUE).cast("string")
    options = {**STRICT, "columnNameOfCorruptRecord": _BROKEN}
    readable = (F.col(MODE) == STRUCTURED) & F.is_valid_utf8(text)
    return F.when(readable, F.from_json(text, _SCHEMA, options))


def _from_headers() -> Column:
    fields = [_of_header(name).cast("string").alias(name) for name in _IN_JSON]
    return F.struct(*fields)


def _of_header(name: str) -> Column:
    if name in (BASE64, _BROKEN):
        return F.lit(None)
    return _header("content-type" if name == "datacontenttype" else f"ce_{name}")


def _header(name: str) -> Column:
    place = F.array_position(F.col(_NAMES), name) - 1  # get() answers null for -1
    return F.get(F.col(_VALUES), place.cast("int")).cast("string")
