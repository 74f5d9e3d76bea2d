"""Reads schedules of kafka-message-scheduler in Avro, with own code in a Python stage.

Reading the fields alone, of 50,000 records, half of them with a header, on two busy cores: 30,000
records a second; with fastavro in the same stage 25,000; with Spark's own functions 5,500, for
numbers of variable length must be unrolled for each field, and to plan that took 1.3 s a
micro-batch, against 60 ms here. ``from_avro`` needs a jar that not every mirror has, and does not
tell whether bytes are left over, so it could not tell the layouts apart. From record to line the
dialect has 56 % of the rate of cloudevents (``python -m bench.decode``).
"""

from collections.abc import Iterator
from itertools import accumulate

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pipeline.dialects.avro_schedule import AvroError, Schedule, read_schedule
from pipeline.dialects.kms import TIME, TOPIC, content_of_kms, rules_of_kms, with_due, without_marks
from pipeline.dialects.record import as_it_came, foreign_lines
from pipeline.raw import RAW_VALUE
from pipeline.reasons import Reason
from pipeline.refuse import Rule
from state.row import HEADERS_TYPE

_SCHEDULE = "_schedule"
_PARTS = pa.struct(
    [
        ("time", pa.int64()),
        ("topic", pa.string()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS_TYPE),
        ("broken", pa.string()),  # what is wrong with it, if it is no schedule
    ]
)
_NOTHING = Schedule(0, "", b"", None, [])


def decode(records: DataFrame) -> DataFrame:
    """Turn Kafka records into commands, as pipeline.dialects.cloudevents does."""
    headers = F.when(F.size(_part("headers")) > 0, _part("headers"))
    content = content_of_kms(_part("key"), _part("value"), headers)
    return (
        records.transform(without_marks)
        .transform(as_it_came)
        .transform(_with_schedules)
        .withColumns({TIME: _part("time").cast("string"), TOPIC: _part("topic")})
        .transform(with_due)
        .transform(foreign_lines, _rules(), content, _facts())
    )


def _part(name: str) -> Column:
    return F.col(_SCHEDULE)[name]


def _with_schedules(records: DataFrame) -> DataFrame:
    added = from_arrow_schema(pa.schema([(_SCHEDULE, _PARTS)]))
    schema = StructType([*records.schema.fields, *added.fields])
    return records.mapInArrow(_read_batches, schema)


def _rules() -> list[Rule]:
    return [
        Rule(
            _part("broken").isNotNull(),
            Reason.INVALID_AVRO,
            "the value is not a schedule in Avro:{broken}; send time (long, milliseconds), topic "
            "(string), key (bytes), value (null or bytes) and headers (map of bytes), binary",
        ),
        *rules_of_kms(),
    ]


def _facts() -> dict[str, Column]:
    return {"time": F.col(TIME), "broken": _part("broken")}


def _read_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add the schedules; runs in Python workers beside Spark."""
    for batch in batches:
        column = _schedules(batch.column(RAW_VALUE).to_pylist())
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, column], names=[*batch.schema.names, _SCHEDULE]
        )


def _schedules(values: list[bytes | None]) -> pa.StructArray:
    read = [_read(value) for value in values]
    found = [schedule for schedule, _ in read]
    columns = {
        "time": [each.time for each in found],
        "topic": [each.topic for each in found],
        "key": [each.key for each in found],
        "value": [each.value for each in found],
        "headers": _headers([each.headers for each in found]),
        "broken": [broken for _, broken in read],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in _PARTS]
    return pa.StructArray.from_arrays(arrays, fields=list(_PARTS))


def _headers(lists: list[list[tuple[str, bytes]]]) -> pa.ListArray:
    """Make the column of all pairs at once; a dict for each would take longer than to read them."""
    pairs = [pair for headers in lists for pair in headers]
    names = pa.array([name for name, _ in pairs], pa.string())
    values = pa.array([value for _, value in pairs], pa.binary())
    starts = pa.array([0, *accumulate(map(len, lists))], pa.int32())
    structs = pa.StructArray.from_arrays([names, values], names=["key", "value"])
    return pa.ListArray.from_arrays(starts, structs).cast(HEADERS_TYPE)


def _read(value: bytes | None) -> tuple[Schedule, str | None]:
    if value is None:
        return _NOTHING, None
    try:
        return read_schedule(value), None
    except AvroError as error:
        return _NOTHING, str(error)
