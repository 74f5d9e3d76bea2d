"""What a job does while Kafka fails it: it waits, tries again, or gives up on one message."""

import itertools
import json
import logging
import time
import zlib
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from datetime import datetime

import pytest
from confluent_kafka import Message
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from pipeline.client import Client
from pipeline.local_kafka import LocalKafka
from pipeline.measure import Measure
from state import row
from tests.integration.running import Place, in_seconds, place, running, wait_for

Read = Callable[[str], list[Message]]
Topics = Callable[..., str]

QUICK = {"retry.first_delay": "200ms", "retry.jitter": 0}
# So that the query notices within seconds that nobody answers.
IMPATIENT = {
    "kafka.source_options": {
        "kafka.default.api.timeout.ms": "10000",
        "kafka.request.timeout.ms": "5000",
        "fetchOffset.numRetries": "1",
    }
}


def headers(message: Message) -> dict[str, bytes]:
    return dict(message.headers() or [])


def has(here: Place, key: str, **wanted: object) -> bool:
    rows = here.rows_of(key)
    return bool(rows) and all(rows[-1][name] == value for name, value in wanted.items())


def test_a_message_for_a_missing_topic_goes_out_when_the_topic_is_there(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read
) -> None:
    here = place(tmp_path, broker.bootstrap_servers, topics, **QUICK)
    missing = f"missing-{here.out}"
    with running(spark, here.settings), here.client() as client:
        client.schedule("patient", topic=missing, key="k", at=in_seconds(0))
        wait_for(lambda: (here.rows_of("k") or [{row.ATTEMPT: 0}])[-1][row.ATTEMPT] >= 2, "tries")
        assert not has(here, "k", status="dead")
        broker.create_topics([missing])
        wait_for(lambda: has(here, "k", status="done"), "the message")
    (found,) = here.rows_of("k")
    assert found[row.ATTEMPT] == len(found[row.ATTEMPTED_AT]) >= 2
    assert found[row.SCHEDULED] <= found[row.ATTEMPTED_AT][0] < found[row.PUBLISHED_AT]
    assert [m.value() for m in read(missing)] == [b"patient"]
    assert read(here.dead) == []
    assert here.stats().ledger.difference == 0


def test_a_message_is_dead_after_the_retries_it_asks_for(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read
) -> None:
    here = place(tmp_path, broker.bootstrap_servers, topics, **QUICK)
    with running(spark, here.settings), here.client() as client:
        client.schedule(
            "x", topic="missing-x", key="k", at=in_seconds(0), attributes={"retrymax": 1}
        )
        client.schedule("fine", topic=here.out, key="other", at=in_seconds(0))
        wait_for(lambda: has(here, "k", status="dead"), "the dead letter")
        wait_for(lambda: has(here, "other", status="done"), "the other message")
    (letter,) = read(here.dead)
    assert (letter.value(), headers(letter)["duestream-reason"]) == (b"x", b"unknown_topic")
    assert headers(letter)["duestream-attempts"].count(b"T") == 2
    (found,) = here.rows_of("k")
    assert len(found[row.ATTEMPTED_AT]) == found[row.ATTEMPT] == 2
    assert here.stats().ledger.difference == 0


def test_a_message_that_waits_to_be_tried_again_can_be_cancelled(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read
) -> None:
    patient = {"retry.first_delay": "1h", "retry.longest_delay": "1h"}
    here = place(tmp_path, broker.bootstrap_servers, topics, **patient)
    with running(spark, here.settings), here.client() as client:
        client.schedule(
            "x", topic="missing-y", key="k", at=in_seconds(0), attributes={"retryfor": "P1D"}
        )
        wait_for(lambda: has(here, "k", status="pending", attempt=1), "the first attempt")
        client.cancel("k")
        wait_for(lambda: has(here, "k", status="cancelled"), "the cancel")
    assert read(here.dead) == []


def test_a_broker_that_is_away_is_waited_for_and_nothing_is_lost_or_dead(
    spark: SparkSession, topics: Topics, tmp_path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    names = (f"away-{n}" for n in itertools.count())
    with LocalKafka() as broker:

        def topic(_name: str, partitions: int = 1) -> str:
            name = next(names)
            broker.create_topics([name], partitions)
            return name

        here = place(tmp_path, broker.bootstrap_servers, topic, **IMPATIENT)
        with running(spark, here.settings), here.client() as client:
            client.schedule("first", topic=here.out, key="first", at=in_seconds(0))
            wait_for(lambda: has(here, "first", status="done"), "the first message")
            for n in range(300):
                due = in_seconds(4 + n / 100)
                client.schedule(f"{n}", topic=here.out, key=f"k{n}", at=due, wait=False)
            client.flush()
            wait_for(lambda: here.stats().ledger.accepted == 301, "the schedules")
            time.sleep(4)  # some are out, some on their way
            broker.kill()
            caplog.clear()
            wait_for(lambda: "Kafka cannot be reached" in caplog.text, "the query to notice")
            broker.start()
            wait_for(lambda: here.stats().ledger.ends.get("done") == 301, "all messages")
            client.schedule("last", topic=here.out, key="last", at=in_seconds(0))
            wait_for(lambda: has(here, "last", status="done"), "the last message")
        ledger = here.stats().ledger
        assert (ledger.difference, ledger.ends.get("dead", 0), ledger.rejected) == (0, 0, 0)


@pytest.mark.parametrize("watched", [True, False])
def test_a_key_rescheduled_every_tenth_of_a_second_fires_once_a_second_after_the_last(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read, watched: bool
) -> None:
    usual = {"pipeline.trigger_interval": "1s", "publish.lookahead_min": "1500ms"}
    here = place(
        tmp_path, broker.bootstrap_servers, topics, **usual, **{"publish.watch_input": watched}
    )
    with running(spark, here.settings), here.client() as client:
        client.schedule("warm", topic=here.out, key="warm", at=in_seconds(0))
        wait_for(lambda: has(here, "warm", status="done"), "the first batch")
        for key in ("1st", "2nd", "3rd", "4th", "5th"):
            due, longest = reschedule(client, here, key)
            if longest < 0.5:  # else the machine was too busy to send in time
                break
        wait_for(lambda: has(here, key, status="done"), "the message")
        wait_for(lambda: "pending" not in here.statuses_of(key), "the last one")
        wait_for(lambda: "claimed" not in here.statuses_of(key), "the last one")
    seen = [m for m in read(here.out) if m.key() == key.encode()]
    assert here.stats().ledger.difference == 0
    if not watched:
        assert len(seen) > 1, "a batch a second cannot be so quick: this test shows nothing"
        return
    assert [m.value() for m in seen] == [b"39"]
    assert seen[0].timestamp()[1] >= due.timestamp() * 1000 - 1
    assert here.statuses_of(key) == ["replaced"] * (len(here.rows_of(key)) - 1) + ["done"]


def reschedule(client: Client, here: Place, key: str) -> tuple[datetime, float]:
    """Move a message to a second ahead, again and again; return the last instant, the worst gap."""
    longest, before = 0.0, time.monotonic()
    for n in range(40):
        due = in_seconds(1)
        client.schedule(f"{n}", topic=here.out, key=key, at=due)
        longest = max(longest, time.monotonic() - before)
        before = time.monotonic()
        time.sleep(0.1)
    return due, longest


def test_a_topic_deleted_while_messages_for_it_wait_does_not_hold_up_the_others(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read
) -> None:
    gone = topics("missing-soon")  # on the list of those allowed
    here = place(tmp_path, broker.bootstrap_servers, topics, **{"publish.lanes": 1}, **IMPATIENT)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    with running(spark, here.settings), here.client() as client:
        client.schedule("seen", topic=gone, key="seen", at=in_seconds(0))
        wait_for(lambda: has(here, "seen", status="done"), "the topic to be known")
        due = in_seconds(8)
        for n in range(20):
            client.schedule("x", topic=gone, key=f"gone-{n}", at=due, wait=False)
            client.schedule(f"{n}", topic=here.out, key=f"k{n}", at=due, wait=False)
        client.flush()
        wait_for(lambda: here.stats().ledger.accepted == 41, "the schedules")
        admin.delete_topics([gone])[gone].result()
        wait_for(lambda: len(read(here.out)) == 20, "the others")
        wait_for(lambda: has(here, "gone-7", attempt=1), "the refusal")
        broker.create_topics([gone])
        wait_for(lambda: here.stats().ledger.ends.get("done") == 41, "all, once it is back")
    assert len(read(gone)) == 20
    assert here.stats().ledger.difference == 0


def test_a_cancel_that_comes_too_late_is_counted_and_told(
    spark: SparkSession,
    broker: LocalKafka,
    topics: Topics,
    tmp_path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    here = place(tmp_path, broker.bootstrap_servers, topics)
    with running(spark, here.settings), here.client() as client:
        client.schedule("x", topic=here.out, key="gone", at=in_seconds(0))
        wait_for(lambda: has(here, "gone", status="done"), "the message")
        client.cancel("gone")
        wait_for(lambda: "1 cancels came too late" in caplog.text, "the word of it")
        wait_for(lambda: here.stats().ledger.late_cancels == 1, "the count")
    assert f"{here.input} gone" in caplog.text
    assert has(here, "gone", status="done")
    assert here.stats().ledger.difference == 0


def test_a_backlog_drains_in_due_order_with_a_bounded_outbox(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read
) -> None:
    limits = {"publish.claim_limit": 400, "publish.outbox_limit": 600, "publish.lanes": 2}
    here = place(tmp_path, broker.bootstrap_servers, topics, **limits)
    with here.client() as client:
        for n in range(3_000):
            due = in_seconds(-3600 + n / 10)
            client.schedule(f"{n:05d}", topic=here.out, key=f"k{n}", at=due, wait=False)
    ticks = tmp_path / "ticks.jsonl"
    with closing(Measure(ticks)) as measure, running(spark, here.settings, measure):
        wait_for(lambda: here.stats().ledger.ends.get("done") == 3_000, "the backlog")
    measured = [json.loads(line) for line in ticks.read_text().splitlines()]
    assert sum(tick["claims"] for tick in measured) == 3_000
    assert max(tick["claims"] for tick in measured) <= 400
    assert max(tick["waiting"] for tick in measured) <= 600
    seen = defaultdict(list)
    for message in read(here.out):
        lane = zlib.crc32(here.input.encode() + b"\0" + message.key()) % 2
        seen[lane, message.partition()].append(message.value())
    assert sum(map(len, seen.values())) == 3_000
    assert all(values == sorted(set(values)) for values in seen.values())
    assert here.stats().ledger.difference == 0
