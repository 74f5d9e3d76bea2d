"""What becomes of each schedule on a topic: the newest record of its key decides."""

import json

import pytest
from foreign_records import Y2030_MICROS, etf1, source
from kafka_records import frame, record, structured
from pyspark.sql import SparkSession

from pipeline.config.blocks import SourceSettings
from pipeline.config.settings import Settings
from pipeline.migrate.fates import BEFORE, COUNT, ENDED, FATE, Fate, fates, tally
from pipeline.migrate.reading import as_lines
from state.row import OUTPUT_TOPIC

PAST = {"scheduler-epoch": "1000"}
MARK = {"scheduler-timestamp": "1", "scheduler-key": "k", "scheduler-topic": "t"}
AT = {"deliverat": "2030-01-01T00:00:00Z"}


def count(
    spark: SparkSession, records: list[tuple], of: SourceSettings, now: int = Y2030_MICROS
) -> dict[str, tuple[int, int, int]]:
    """Return by fate and output topic: schedules, older puts, schedules that were ended."""
    settings = Settings(sources=[of])
    numbered = [(*row[:5], number, row[6]) for number, row in enumerate(records)]
    lines = as_lines(frame(spark, numbered), settings, of)
    return {
        f"{row[FATE]} {row[OUTPUT_TOPIC]}": (row[COUNT], row[BEFORE], row[ENDED])
        for row in tally(fates(lines, now)).collect()
    }


def cancel(**more) -> tuple:
    return etf1(dict.fromkeys(("scheduler-epoch", "scheduler-target-topic"), ""), None, **more)


STORIES = {
    "due at the very instant is overdue": ([etf1()], {"overdue out": (1, 0, 0)}),
    "a put": ([etf1({"scheduler-epoch": "1893456001"})], {"pending out": (1, 0, 0)}),
    "replaced twice": ([etf1(PAST), etf1(PAST), etf1(PAST)], {"overdue out": (1, 2, 0)}),
    "cancelled": ([etf1(), cancel()], {"cancelled None": (1, 1, 1)}),
    "cancelled, of two": ([etf1(), etf1(), cancel()], {"cancelled None": (1, 2, 1)}),
    "a bare cancel": ([cancel()], {"cancelled None": (1, 0, 0)}),
    "sent": ([etf1(), etf1(MARK, None)], {"sent None": (1, 1, 1)}),
    "a mark of another key is a cancel": (
        [etf1({**MARK, "scheduler-key": "other"}, None)],
        {"cancelled None": (1, 0, 0)},
    ),
    "put again after it was sent": (
        [etf1(PAST), etf1(MARK, None), etf1(PAST)],
        {"overdue out": (1, 1, 0)},
    ),
    "garbage leaves the good one alone": (
        [etf1(PAST), etf1({"scheduler-epoch": "x"}), etf1({"scheduler-epoch": "-1"})],
        {"overdue out": (1, 0, 0), "unreadable None": (2, 0, 0)},
    ),
    "no key": (
        [etf1(key=None), etf1(key=b" ")],
        {"unreadable out": (1, 0, 0), "unreadable None": (1, 0, 0)},
    ),
    "across partitions the timestamp decides": (
        [etf1(PAST, after_ms=5, partition=1), cancel(after_ms=4)],
        {"overdue out": (1, 0, 0)},
    ),
    "on one partition the offset decides": (
        [etf1(PAST, after_ms=5), cancel(after_ms=4)],
        {"cancelled None": (1, 1, 1)},
    ),
    "at the same timestamp the higher partition": (
        [etf1(PAST, partition=1), cancel()],
        {"overdue out": (1, 0, 0)},
    ),
    "every topic is counted by itself": (
        [etf1(PAST), etf1({**PAST, "scheduler-target-topic": "__x"}, key=b"other")],
        {"overdue out": (1, 0, 0), "overdue __x": (1, 0, 0)},
    ),
}


@pytest.fixture(scope="module")
def told(spark: SparkSession) -> dict[str, dict[str, tuple[int, int, int]]]:
    return {name: count(spark, records, source("etf1")) for name, (records, _) in STORIES.items()}


@pytest.mark.parametrize("story", STORIES)
def test_the_newest_record_of_a_key_decides(told, story: str) -> None:
    assert told[story] == STORIES[story][1]


def test_what_only_a_job_can_follow_is_set_apart(spark: SparkSession) -> None:
    keep = structured({**AT, "onsameid": "keepfirst"})
    records = [
        record(structured(AT), topic="cloudevents"),
        record(structured({"type": "io.duestream.pause.v1"}), topic="cloudevents"),
        record(keep, topic="cloudevents", key=b"kept"),
        record(
            structured({**AT, "repeatevery": "1h", "repeatcount": 2}), topic="cloudevents", key=b"r"
        ),
        record(structured({**AT, "repeatevery": "x"}), topic="cloudevents", key=b"bad"),
        record(structured({"delayby": "PT1H"}), topic="cloudevents", key=b"delayed"),
    ]
    found = count(spark, records, source("cloudevents"), now=0)
    by_fate: dict[str, int] = {}
    for name, (schedules, _, _) in found.items():
        fate = name.partition(" ")[0]
        by_fate[fate] = by_fate.get(fate, 0) + schedules
    assert by_fate == {Fate.ASKING: 2, Fate.PENDING: 2, Fate.UNREADABLE: 1}


def test_the_second_form_of_events_is_counted(spark: SparkSession) -> None:
    meta = {"startAt": 1000, "outputTopic": "there"}
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "T"}
    value = json.dumps(event | {"data": {"message": "m", "metaData": meta}}).encode()
    records = [record(value, topic="cloudevents"), record(None, topic="cloudevents", key=b"x")]
    found = count(spark, records, source("cloudevents"))
    assert found == {"overdue there": (1, 0, 0), "cancelled None": (1, 0, 0)}
