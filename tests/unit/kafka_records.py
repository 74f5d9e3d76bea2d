"""Builds Kafka records as Spark reads them, and decodes many of them in one job."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from pyspark.sql import DataFrame, SparkSession

from pipeline.admit import AdmitRules
from pipeline.asked import Asking, with_policies
from pipeline.deadletter import with_dead_letters
from pipeline.dialects.cloudevents import decode
from pipeline.dialects.wishes import IN_META
from pipeline.lines import command_lines, with_batch_time
from pipeline.withdraw import with_withdrawals

SCHEMA = (
    "key binary, value binary, headers array<struct<key:string,value:binary>>, topic string, "
    "partition int, offset long, timestamp timestamp"
)
SENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
SENT_MICROS = 1_767_268_800_000_000
EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "outputtopic": "out"}

RULES = AdmitRules(("out", "replies"), 1_000_000, 65_536)
ASKING = Asking(RULES, False, IN_META)

Headers = list[tuple[str, bytes | None]] | None


def record(
    value: bytes | None,
    headers: Headers = None,
    key: bytes | None = b"k",
    topic: str = "in",
    partition: int = 0,
    offset: int = 0,
    after_ms: int = 0,
) -> tuple[object, ...]:
    given = None if headers is None else [(name, _bytes(said)) for name, said in headers]
    sent = SENT + timedelta(milliseconds=after_ms)
    return (_bytes(key), _bytes(value), given, topic, partition, offset, sent)


def structured(attributes: dict[str, object] | None = None, without: str = "") -> bytes:
    """A structured event with the attributes that every event needs, and some more or fewer."""
    event = {**EVENT, **(attributes or {})}
    event.pop(without, None)
    return json.dumps(event).encode()


def with_data(text: str) -> bytes:
    """A structured event whose data is written exactly so."""
    return (json.dumps(EVENT)[:-1] + ', "data": ' + text + "}").encode()


def with_meta(meta: dict[str, object] | str, message: str = '"hello"') -> bytes:
    written = meta if isinstance(meta, str) else json.dumps(meta)
    event = {name: said for name, said in EVENT.items() if name != "outputtopic"}
    data = f'{{"message": {message}, "metaData": {written}}}'
    return (json.dumps(event)[:-1] + ', "data": ' + data + "}").encode()


def binary(attributes: dict[str, str | bytes] | None = None, without: str = "") -> Headers:
    """The headers of a binary event."""
    event = {**EVENT, **(attributes or {})}
    event.pop(without, None)
    return [(f"ce_{n}", v if isinstance(v, bytes) else v.encode()) for n, v in event.items()]


def frame(spark: SparkSession, rows: list[tuple[object, ...]]) -> DataFrame:
    return with_withdrawals(spark.createDataFrame(rows, SCHEMA), [])


def decode_all(
    spark: SparkSession, cases: dict[str, tuple[object, ...]]
) -> dict[str, SimpleNamespace]:
    """Decode all cases at once; the offset tells them apart."""
    numbered = [(*row[:5], number, row[6]) for number, row in enumerate(cases.values())]
    commands = as_the_driver_sees(frame(spark, numbered).transform(decode))
    by_offset = {command.source_offset: command for command in commands}
    assert len(by_offset) == len(commands) == len(cases)
    return {name: by_offset[number] for number, name in enumerate(cases)}


def as_the_driver_sees(commands: DataFrame) -> list[SimpleNamespace]:
    """Take decoded commands to the driver, as the topology does."""
    lines = commands.transform(command_lines).transform(with_batch_time).toArrow()
    lines = with_policies(lines, ASKING)
    return [SimpleNamespace(**row) for row in with_dead_letters(lines, "dead").to_pylist()]


def _bytes(value: bytes | None) -> bytearray | None:
    return None if value is None else bytearray(value)
