"""Builds records of the foreign dialects, and decodes those of many topics in one job."""

import base64
import json
from types import SimpleNamespace

from kafka_records import RULES, Headers, as_the_driver_sees, frame, record
from pyspark.sql import SparkSession

from pipeline.admit import admit
from pipeline.config.blocks import SourceSettings
from pipeline.dialects.choose import decode

Y2030 = 1_893_456_000
Y2030_MICROS = Y2030 * 1_000_000
DIALECTS = ("cloudevents", "cloudevents-mongo", "kms-avro", "kms-json", "etf1", "karafka")


def source(dialect: str, topic: str | None = None, namespace: str | None = None) -> SourceSettings:
    to = "out" if dialect == "cloudevents-mongo" else None
    return SourceSettings(
        topic=topic or dialect, dialect=dialect, output_topic=to, namespace=namespace
    )


SOURCES = [source(dialect) for dialect in DIALECTS]

KARAFKA = {
    "schedule_schema_version": "1.0.0",
    "schedule_source_type": "schedule",
    "schedule_target_epoch": str(Y2030),
    "schedule_target_topic": "out",
}
ETF1 = {"scheduler-epoch": str(Y2030), "scheduler-target-topic": "out"}
MONGO = {
    "type": "Delayed",
    "publishAt": "2030-01-01T00:00:00Z",
    "message": "hello",
    "partitionKey": "pk",
}
KMS_JSON = {"time": Y2030 * 1000, "topic": "out", "key": "azE=", "value": "djE="}


def karafka(changes: dict | None = None, value: bytes | None = b"v", **more) -> tuple:
    return record(value, _headers(KARAFKA, changes), topic="karafka", **more)


def etf1(changes: dict | None = None, value: bytes | None = b"v", **more) -> tuple:
    return record(value, _headers(ETF1, changes), topic="etf1", **more)


def mongo(changes: dict | None = None, **more) -> tuple:
    return record(_object(MONGO, changes), topic="cloudevents-mongo", **more)


def kms_json(changes: dict | None = None, **more) -> tuple:
    return record(_object(KMS_JSON, changes), topic="kms-json", **more)


def kms_avro(value: bytes | None, headers: Headers = None, **more) -> tuple:
    return record(value, headers, topic="kms-avro", **more)


def decode_foreign(
    spark: SparkSession, cases: dict[str, tuple], sources: list[SourceSettings] = SOURCES
) -> dict[str, SimpleNamespace]:
    """Decode and admit all cases at once; the offset tells them apart, one may be dropped."""
    numbered = [(*row[:5], number, row[6]) for number, row in enumerate(cases.values())]
    lines = frame(spark, numbered).transform(decode, sources).transform(admit, RULES)
    found = as_the_driver_sees(lines)
    by_offset = {line.source_offset: line for line in found}
    assert len(by_offset) == len(found)
    return {name: by_offset[n] for n, name in enumerate(cases) if n in by_offset}


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def headers_of(line: SimpleNamespace) -> list[tuple[str, bytes | None]]:
    return [(header["key"], header["value"]) for header in line.headers or []]


def _headers(basis: dict[str, str], changes: dict | None) -> Headers:
    """The headers, with some changed; an empty text takes one away."""
    said = {**basis, **(changes or {})}
    return [(n, v if isinstance(v, bytes) else v.encode()) for n, v in said.items() if v != ""]


def _object(basis: dict, changes: dict | None) -> bytes:
    said = {**basis, **(changes or {})}
    return json.dumps({name: value for name, value in said.items() if value != ...}).encode()
