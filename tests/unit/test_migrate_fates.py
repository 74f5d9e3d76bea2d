"""What becomes of each schedule on a topic: the newest record of its key decides."""

from collections.abc import Callable

import pytest
from foreign_records import Y2030_MICROS, etf1, source
from kafka_records import frame, record, structured, with_meta
from pyspark.sql import DataFrame, SparkSession

from pipeline.config.blocks import SourceSettings
from pipeline.config.settings import Settings
from pipeline.migrate.fates import FATE, PUTS, Fate, fates, tally
from pipeline.migrate.reading import as_lines
from state.row import KEY, OUTPUT_TOPIC

PAST = {"scheduler-epoch": "1000"}
WRITTEN = 1_767_268_800  # the second of the records' timestamp
AT = {"deliverat": "2030-01-01T00:00:00Z"}
WITHOUT = dict.fromkeys(("scheduler-epoch", "scheduler-target-topic"), "")

Told = list[tuple[str, str | None, int]]  # fate, output topic, how many records put


def told_of(spark: SparkSession, records: list[tuple], of: SourceSettings, now: int) -> DataFrame:
    numbered = [(*row[:5], number, row[6]) for number, row in enumerate(records)]
    lines = as_lines(frame(spark, numbered), Settings(sources=[of]), of)
    return fates(lines, now, [KEY])


def put(changes: dict | None = None, **more) -> Callable[[str], tuple]:
    return lambda key: etf1({**PAST, **(changes or {})}, key=key.encode(), **more)


def cancel(**more) -> Callable[[str], tuple]:
    return lambda key: etf1(WITHOUT, None, key=key.encode(), **more)


def mark(of: str | None = None) -> Callable[[str], tuple]:
    said = {"scheduler-timestamp": "1", "scheduler-topic": "t"}
    return lambda key: etf1({**said, "scheduler-key": of or key}, None, key=key.encode())


STORIES: dict[str, tuple[list[Callable[[str], tuple]], Told]] = {
    "due at the very instant": (
        [put({"scheduler-epoch": "1893456000"})],
        [("overdue", "out", 1)],
    ),
    "due a second later": ([put({"scheduler-epoch": "1893456001"})], [("pending", "out", 1)]),
    "replaced twice": ([put(), put(), put()], [("overdue", "out", 3)]),
    "cancelled": ([put(), cancel()], [("cancelled", None, 1)]),
    "replaced, then cancelled": ([put(), put(), cancel()], [("cancelled", None, 2)]),
    "a bare cancel": ([cancel()], [("cancelled", None, 0)]),
    "sent": ([put(), mark()], [("sent", None, 1)]),
    "a mark of another key is a cancel": ([put(), mark("other")], [("cancelled", None, 1)]),
    "put for later while the one before was sent": (
        [put(), put({"scheduler-epoch": "1893456001"}), mark()],
        [("pending", "out", 2)],
    ),
    "put for later, then sent and cancelled": (
        [put({"scheduler-epoch": "1893456001"}), mark(), cancel()],
        [("cancelled", None, 1)],
    ),
    "due when the mark was written, by a clock that differs": (
        [put({"scheduler-epoch": str(WRITTEN + 60)}), mark()],
        [("sent", None, 1)],
    ),
    "due later than any clock differs": (
        [put({"scheduler-epoch": str(WRITTEN + 61)}), mark()],
        [("overdue", "out", 1)],
    ),
    "a mark of nothing that is known": ([mark()], [("sent", None, 0)]),
    "put again after it was sent": ([put(), mark(), put()], [("overdue", "out", 2)]),
    "garbage leaves the good one alone": (
        [put(), put({"scheduler-epoch": "x"}), put({"scheduler-epoch": "-1"})],
        [("overdue", "out", 1), ("unreadable", None, 0), ("unreadable", None, 0)],
    ),
    " ": ([put(), cancel()], [("unreadable", None, 0), ("unreadable", None, 0)]),
    "across partitions the timestamp decides": (
        [put(after_ms=5, partition=1), cancel(after_ms=4)],
        [("overdue", "out", 1)],
    ),
    "on one partition the offset decides": (
        [put(after_ms=5), cancel(after_ms=4)],
        [("cancelled", None, 1)],
    ),
    "at the same timestamp the higher partition": (
        [put(partition=1), cancel()],
        [("overdue", "out", 1)],
    ),
    "a topic of Kafka's own": (
        [put({"scheduler-target-topic": "__x"})],
        [("overdue", "__x", 1)],
    ),
}


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> DataFrame:
    """All stories in one job, each under a key of its own."""
    records = [say(name) for name, (said, _) in STORIES.items() for say in said]
    return told_of(spark, records, source("etf1"), Y2030_MICROS).persist()


@pytest.fixture(scope="module")
def by_key(found: DataFrame) -> dict[str, Told]:
    told: dict[str, Told] = {}
    for row in found.collect():
        line = (row[FATE], row[OUTPUT_TOPIC], row[PUTS])
        told.setdefault(bytes(row[KEY]).decode(), []).append(line)
    return told


@pytest.mark.parametrize("story", STORIES)
def test_the_newest_record_of_a_key_decides(by_key: dict[str, Told], story: str) -> None:
    assert sorted(by_key[story], key=str) == sorted(STORIES[story][1], key=str)


def test_all_of_it_is_counted(found: DataFrame) -> None:
    counted = {(row[FATE], row[OUTPUT_TOPIC]): tuple(row)[2:] for row in tally(found).collect()}
    assert counted == {  # schedules, puts before the newest record, schedules that were ended
        ("pending", "out"): (2, 1, 0),
        ("overdue", "out"): (7, 3, 0),
        ("overdue", "__x"): (1, 0, 0),
        ("cancelled", None): (6, 6, 5),
        ("sent", None): (3, 2, 2),
        ("unreadable", None): (4, 0, 0),
    }


def test_what_only_a_job_can_follow_is_set_apart(spark: SparkSession) -> None:
    keep = structured({**AT, "onsameid": "keep"})
    records = [
        record(structured(AT), topic="cloudevents"),
        record(structured({"type": "io.duestream.pause.v1"}), topic="cloudevents"),
        record(keep, topic="cloudevents", key=b"kept"),
        record(
            structured({**AT, "repeatevery": "1h", "repeatcount": 2}), topic="cloudevents", key=b"r"
        ),
        record(structured({**AT, "repeatevery": "x"}), topic="cloudevents", key=b"bad"),
        record(structured({"delayby": "PT1H"}), topic="cloudevents", key=b"delayed"),
        record(
            with_meta({"startAt": 1000, "outputTopic": "there"}), topic="cloudevents", key=b"second"
        ),
    ]
    found = told_of(spark, records, source("cloudevents"), 0).collect()
    by_fate = {bytes(row[KEY]): row[FATE] for row in found}
    assert by_fate == {
        b"k": Fate.ASKING,
        b"kept": Fate.ASKING,
        b"r": Fate.PENDING,
        b"bad": Fate.UNREADABLE,
        b"delayed": Fate.PENDING,
        b"second": Fate.PENDING,
    }
