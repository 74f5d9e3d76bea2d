"""The rate at which records of each dialect are decoded: ``python -m bench.decode``.

Decode, admit and the way to the driver, on records that Spark holds in memory. Without a broker,
and with the session that the job has.
"""

import argparse
import io
import json
import os
import platform
import time

import fastavro
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table

from bench.events import PAYLOAD_BYTES
from bench.events import record as cloudevent
from pipeline.admit import AdmitRules, admit
from pipeline.config.blocks import SourceSettings
from pipeline.dialects.choose import decode
from pipeline.dialects.headers import tell_policy
from pipeline.lines import command_lines, with_batch_time
from pipeline.raw import VERDICT
from pipeline.session import spark_session
from pipeline.withdraw import with_withdrawals
from state.row import HEADERS_TYPE

TOPIC = "bench.in"
OUT = "bench.out"
DUE = 1_893_456_000  # seconds
RULES = AdmitRules((OUT,), 1_000_000, 65_536)
PAYLOAD = b"x" * PAYLOAD_BYTES
TASKS = 2

Raw = tuple[bytes, list[tuple[str, bytes]] | None]  # value and headers

_FIELDS = [
    {"name": "time", "type": "long"},
    {"name": "topic", "type": "string"},
    {"name": "key", "type": "bytes"},
    {"name": "value", "type": ["null", "bytes"]},
    {"name": "headers", "type": {"type": "map", "values": "bytes"}},
]
_SCHEMA = fastavro.parse_schema({"type": "record", "name": "Schedule", "fields": _FIELDS})


class Measured:
    """One dialect: its records in memory, and the best times so far."""

    def __init__(self, spark: SparkSession, dialect: str, count: int) -> None:
        raw = _raw(spark, dialect, count)
        self._count = count
        self._lines, self._nothing = _lines(raw, dialect), _lines(raw.limit(0), dialect)
        self._whole = self._idle = float("inf")
        found = self._lines.toArrow()
        if found.num_rows != count or found[VERDICT].null_count != count:
            raise SystemExit(f"{dialect}: {found[VERDICT].drop_null()[:1]} in what is made up here")

    def again(self) -> None:
        """Measure once more; the best counts."""
        self._whole = min(self._whole, _seconds(self._lines))
        self._idle = min(self._idle, _seconds(self._nothing.select("*")))  # planned anew

    @property
    def rate(self) -> float:
        """Records a second."""
        return self._count / self._whole

    @property
    def idle_ms(self) -> float:
        """What it takes to plan and run a batch of none."""
        return self._idle * 1000


def main() -> None:
    """Measure all dialects in turns, so that a busy moment of the machine hits none alone."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    spark = spark_session("bench-decode", f"local[{TASKS}]", {"spark.driver.memory": "4g"})
    tell_policy(spark)
    measured = {dialect: Measured(spark, dialect, given.records) for dialect in _RECORDS}
    for _ in range(given.rounds):
        for each in measured.values():
            each.again()
    spark.stop()
    _print(measured, given.records)


def _lines(raw: DataFrame, dialect: str) -> DataFrame:
    output = OUT if dialect == "cloudevents-mongo" else None
    sources = [SourceSettings(topic=TOPIC, dialect=dialect, output_topic=output)]
    return (
        with_withdrawals(raw, [])
        .transform(decode, sources)
        .transform(admit, RULES)
        .transform(command_lines)
        .transform(with_batch_time)
    )


def _seconds(lines: DataFrame) -> float:
    begun = time.monotonic()
    lines.toArrow()
    return time.monotonic() - begun


def _raw(spark: SparkSession, dialect: str, count: int) -> DataFrame:
    made = [_RECORDS[dialect](number) for number in range(count)]
    headers = [None if of is None else [{"key": k, "value": v} for k, v in of] for _, of in made]
    table = pa.table(
        {
            "key": pa.array([f"key-{number}".encode() for number in range(count)]),
            "value": pa.array([value for value, _ in made]),
            "headers": pa.array(headers, HEADERS_TYPE),
            "offset": pa.array(range(count), pa.int64()),
        }
    )
    columns = ["*", f"'{TOPIC}' topic", "0 partition", "current_timestamp() timestamp"]
    raw = spark.createDataFrame(table).selectExpr(*columns).repartition(TASKS).cache()
    raw.count()
    return raw


def _cloudevents(number: int) -> Raw:
    return cloudevent(number, DUE * 1000 + number, OUT)[1:]


def _cloudevents_mongo(number: int) -> Raw:
    event = {
        "type": "Delayed",
        "publishAt": "2030-01-01T00:00:00Z",
        "message": PAYLOAD.decode(),
        "partitionKey": str(number),
    }
    return json.dumps(event).encode(), None


def _kms_avro(number: int) -> Raw:
    out = io.BytesIO()
    schedule = {
        "time": DUE * 1000 + number,
        "topic": OUT,
        "key": b"k",
        "value": PAYLOAD,
        "headers": {"traceparent": b"00-1-2-01"},
    }
    fastavro.schemaless_writer(out, _SCHEMA, schedule)
    return out.getvalue(), None


def _kms_json(number: int) -> Raw:
    schedule = {
        "time": DUE * 1000 + number,
        "topic": OUT,
        "key": "azE=",
        "value": "eHh4" * (PAYLOAD_BYTES // 3),
        "headers": {"traceparent": "eA=="},
    }
    return json.dumps(schedule).encode(), None


def _etf1(number: int) -> Raw:
    said = {"scheduler-epoch": DUE + number, "scheduler-target-topic": OUT, "traceparent": 1}
    return PAYLOAD, [(name, str(value).encode()) for name, value in said.items()]


def _karafka(number: int) -> Raw:
    said = {
        "schedule_schema_version": "1.0.0",
        "schedule_source_type": "schedule",
        "schedule_target_epoch": DUE + number,
        "schedule_target_topic": OUT,
        "schedule_target_key": number,
    }
    return PAYLOAD, [(name, str(value).encode()) for name, value in said.items()]


_RECORDS = {
    "cloudevents": _cloudevents,
    "cloudevents-mongo": _cloudevents_mongo,
    "kms-avro": _kms_avro,
    "kms-json": _kms_json,
    "etf1": _etf1,
    "karafka": _karafka,
}


def _print(measured: dict[str, Measured], count: int) -> None:
    console = Console(width=110)
    console.print(
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}; "
        f"{count:,} records of {PAYLOAD_BYTES} bytes"
    )
    table = Table("dialect", "records/s", "share of cloudevents", "batch of none, ms")
    for dialect, each in measured.items():
        share = each.rate / measured["cloudevents"].rate
        table.add_row(dialect, f"{each.rate:,.0f}", f"{share:.0%}", f"{each.idle_ms:.0f}")
    console.print(table)


if __name__ == "__main__":
    main()
