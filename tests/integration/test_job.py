"""The whole way on a real broker: CloudEvents in, state in Delta, due messages out."""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from confluent_kafka import Message, Producer
from pyspark.sql import SparkSession

from pipeline.local_kafka import LocalKafka
from state import row
from state.errors import StateError
from tests.integration.running import Place, in_seconds, place, run_once, running, wait_for

Read = Callable[[str], list[Message]]
Topics = Callable[..., str]


@pytest.fixture(scope="module")
def job(
    spark: SparkSession,
    broker: LocalKafka,
    topics: Topics,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    """One running job for all tests that do not stop it; each uses keys of its own."""
    somewhere = place(tmp_path_factory.mktemp("job"), broker.bootstrap_servers, topics)
    with running(spark, somewhere.settings):
        yield somewhere
    ledger = somewhere.stats().ledger
    assert ledger.difference == 0, ledger


@pytest.fixture
def raw(broker: LocalKafka) -> Producer:
    return Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "partitioner": "murmur2_random"}
    )


def published(read: Read, topic: str, key: str) -> list[Message]:
    return [message for message in read(topic) if message.key() == key.encode()]


def test_a_message_comes_out_at_its_instant_and_is_done_with_its_receipt(
    job: Place, read: Read
) -> None:
    due = in_seconds(4)
    payload = bytes(range(256))
    with job.client() as client:
        client.schedule(payload, topic=job.out, key="exact", at=due)
    wait_for(lambda: job.statuses_of("exact") == ["done"], "the message to be done")
    (message,) = published(read, job.out, "exact")
    assert message.value() == payload
    assert message.timestamp()[1] >= due.timestamp() * 1000
    (line,) = job.rows_of("exact")
    assert (line[row.PUBLISHED_PARTITION], line[row.PUBLISHED_OFFSET]) == (
        message.partition(),
        message.offset(),
    )
    assert line[row.PUBLISHED_AT] >= line[row.DUE] == int(due.timestamp() * 1_000_000)


def test_the_last_word_for_a_key_counts(job: Place, read: Read) -> None:
    with job.client() as client:
        client.schedule("first", topic=job.out, key="moved", at=in_seconds(600))
        wait_for(lambda: job.statuses_of("moved") == ["pending"], "the first version")
        client.schedule("second", topic=job.out, key="moved", at=in_seconds(1))
    wait_for(lambda: job.statuses_of("moved") == ["replaced", "done"], "the second version")
    assert [m.value() for m in published(read, job.out, "moved")] == [b"second"]


def test_versions_of_one_batch_count_as_replaced(job: Place, read: Read) -> None:
    before = job.stats().ledger
    with job.client() as client:
        for n in range(50):
            client.schedule(str(n), topic=job.out, key="often", at=in_seconds(8), wait=False)
    wait_for(lambda: job.statuses_of("often")[-1:] == ["done"], "the last version")
    assert [m.value() for m in published(read, job.out, "often")] == [b"49"]
    assert job.stats().ledger.accepted - before.accepted == 50


def test_a_cancelled_message_never_comes_out(job: Place, read: Read) -> None:
    with job.client() as client:
        client.schedule("no", topic=job.out, key="withdrawn", at=in_seconds(600))
        wait_for(lambda: job.statuses_of("withdrawn") == ["pending"], "the schedule")
        client.cancel("withdrawn")
    wait_for(lambda: job.statuses_of("withdrawn") == ["cancelled"], "the cancel")
    assert published(read, job.out, "withdrawn") == []


def test_a_message_already_claimed_can_still_be_cancelled(job: Place, read: Read) -> None:
    with job.client() as client:
        client.schedule("no", topic=job.out, key="just-in-time", at=in_seconds(12))
        wait_for(lambda: "claimed" in job.statuses_of("just-in-time"), "the claim")
        client.cancel("just-in-time")
    wait_for(lambda: job.statuses_of("just-in-time") != ["claimed"], "the end")
    # On a slow machine the message may be out before the cancel is read.
    came_out = [m.value() for m in published(read, job.out, "just-in-time")]
    assert came_out == {"cancelled": [], "done": [b"no"]}[job.statuses_of("just-in-time")[0]]


def test_a_message_already_claimed_can_still_be_moved(job: Place, read: Read) -> None:
    with job.client() as client:
        client.schedule("first", topic=job.out, key="late-change", at=in_seconds(12))
        wait_for(lambda: "claimed" in job.statuses_of("late-change"), "the claim")
        client.schedule("second", topic=job.out, key="late-change", at=in_seconds(2))
    wait_for(lambda: job.statuses_of("late-change")[-1:] == ["done"], "the last version")
    came_out = [m.value() for m in published(read, job.out, "late-change")]
    # On a slow machine the first may be out before the change is read; then both are, in order.
    known = {"replaced": [b"second"], "done": [b"first", b"second"]}
    assert came_out == known[job.statuses_of("late-change")[0]]


def test_what_is_due_in_the_past_comes_out_at_once(job: Place, read: Read) -> None:
    with job.client() as client:
        client.schedule("old", topic=job.out, key="past", at=datetime(2001, 1, 1, tzinfo=UTC))
    wait_for(lambda: job.statuses_of("past") == ["done"], "the message")
    assert [m.value() for m in published(read, job.out, "past")] == [b"old"]


def test_a_bad_record_becomes_a_dead_letter_and_leaves_the_good_one_alone(
    job: Place, raw: Producer, read: Read
) -> None:
    with job.client() as client:
        client.schedule("good", topic=job.out, key="mixed", at=in_seconds(600))
    raw.produce(job.input, b"\x00not json", b"mixed", headers=[("mine", b"\xff")])
    raw.flush()
    wait_for(lambda: len(published(read, job.dead, "mixed")) == 1, "the dead letter")
    (letter,) = published(read, job.dead, "mixed")
    headers = dict(letter.headers() or [])
    assert letter.value() == b"\x00not json"
    assert (headers["mine"], headers["duestream-reason"]) == (b"\xff", b"invalid_json")
    assert headers["duestream-topic"] == job.input.encode()
    assert job.statuses_of("mixed") == ["pending"]


def test_a_topic_nobody_allowed_is_refused(job: Place, read: Read) -> None:
    with job.client() as client:
        client.schedule("x", topic="payroll", key="forbidden", at=in_seconds(1))
    wait_for(lambda: len(published(read, job.dead, "forbidden")) == 1, "the dead letter")
    (letter,) = published(read, job.dead, "forbidden")
    assert dict(letter.headers() or [])["duestream-reason"] == b"topic_not_allowed"


def test_a_message_whose_topic_is_missing_ends_dead(job: Place, read: Read) -> None:
    with job.client() as client:
        client.schedule(
            "x",
            topic="missing-topic",
            key="homeless",
            at=in_seconds(1),
            attributes={"retrymax": 0},
        )
    wait_for(lambda: job.statuses_of("homeless") == ["dead"], "the verdict")
    (letter,) = published(read, job.dead, "homeless")
    assert (letter.value(), dict(letter.headers() or [])["duestream-reason"]) == (
        b"x",
        b"unknown_topic",
    )


def test_ten_thousand_poisonous_records_harm_nobody(job: Place, raw: Producer, read: Read) -> None:
    chance = random.Random(11)
    dead_before = len(read(job.dead))
    with job.client() as client:
        for n in range(10_000):
            raw.produce(job.input, chance.randbytes(chance.randrange(1, 60)), b"poison-%d" % n)
            raw.poll(0)
            if n % 100 == 0:
                client.schedule("ok", topic=job.out, key=f"sane-{n}", at=in_seconds(3), wait=False)
        raw.flush()
    wait_for(lambda: len(read(job.dead)) - dead_before >= 10_000, "the dead letters")
    wait_for(lambda: job.statuses_of("sane-9900") == ["done"], "the last good message")
    assert len(read(job.dead)) - dead_before == 10_000
    sane = [m.key() for m in read(job.out) if (m.key() or b"").startswith(b"sane-")]
    assert sorted(sane) == sorted(b"sane-%d" % n for n in range(0, 10_000, 100))


def test_a_restart_in_between_loses_nothing_and_repeats_nothing(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read
) -> None:
    here = place(tmp_path, broker.bootstrap_servers, topics)
    with running(spark, here.settings), here.client() as client:
        client.schedule("before", topic=here.out, key="before", at=in_seconds(0))
        client.schedule("across", topic=here.out, key="across", at=in_seconds(14))
        wait_for(lambda: here.statuses_of("before") == ["done"], "the first message")
    assert here.statuses_of("across") == ["pending"]  # put back by the clean stop, if claimed
    with running(spark, here.settings):
        wait_for(lambda: here.statuses_of("across") == ["done"], "the second message")
    assert sorted(m.key() for m in read(here.out)) == [b"across", b"before"]
    assert here.stats().ledger.difference == 0


def test_once_takes_what_is_there_publishes_what_is_due_and_ends(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read
) -> None:
    flags = {"pipeline.max_offsets_per_trigger": 40, "publish.claim_limit": 30}
    here = place(tmp_path, broker.bootstrap_servers, topics, **flags)
    with here.client() as client:
        for n in range(100):
            client.schedule("due", topic=here.out, key=f"due-{n}", at=in_seconds(-1), wait=False)
        client.schedule("later", topic=here.out, key="later", at=in_seconds(600))
    run_once(spark, here.settings)
    assert len(read(here.out)) == 100
    assert here.statuses_of("later") == ["pending"]
    assert here.stats().ledger.difference == 0
    with here.client() as client:
        client.schedule("now", topic=here.out, key="later", at=in_seconds(-1))
    run_once(spark, here.settings)
    assert [m.value() for m in published(read, here.out, "later")] == [b"now"]
    assert len(read(here.out)) == 101


def test_at_least_once_works_without_markers(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path, read: Read
) -> None:
    here = place(
        tmp_path, broker.bootstrap_servers, topics, **{"publish.guarantee": "at_least_once"}
    )
    with here.client() as client:
        client.schedule("x", topic=here.out, key="a", at=in_seconds(-1))
    run_once(spark, here.settings)
    (message,) = read(here.out)
    assert dict(message.headers() or [])["duestream-fire-id"].startswith(here.input.encode())
    assert here.statuses_of("a") == ["done"]


def test_a_checkpoint_of_another_state_is_refused(
    spark: SparkSession, broker: LocalKafka, topics: Topics, tmp_path
) -> None:
    here = place(tmp_path, broker.bootstrap_servers, topics)
    with here.client() as client:
        client.schedule("x", topic=here.out, key="a", at=in_seconds(600))
    run_once(spark, here.settings)
    other_state = here.settings.model_copy(
        update={"state": _moved(here.settings.state, tmp_path / "elsewhere")}
    )
    with pytest.raises(StateError, match="was made with state"):
        run_once(spark, other_state)
    checkpoint = here.settings.pipeline.model_copy(update={"checkpoint": str(tmp_path / "new")})
    with pytest.raises(StateError, match="the checkpoint is new but the state is not"):
        run_once(spark, here.settings.model_copy(update={"pipeline": checkpoint}))


def _moved(state, path):
    return state.model_copy(update={"delta": state.delta.model_copy(update={"path": str(path)})})
