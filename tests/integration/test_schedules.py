"""What to send when, end to end on a real broker: each feature, on each store."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from confluent_kafka import Message, Producer
from pyspark.sql import SparkSession

from pipeline.client import Client, Repeat, SameKey
from pipeline.local_kafka import LocalKafka
from state import row
from state.row import Kind
from tests.conftest import Mongo
from tests.integration.running import Place, in_seconds, place, running, wait_for

Read = Callable[[str], list[Message]]
Topics = Callable[..., str]


@pytest.fixture(scope="module", params=["delta", "mongo"])
def job(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    broker: LocalKafka,
    topics: Topics,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    """One running job for all features; each uses keys and output topics of its own."""
    state: dict[str, object] = {}
    if request.param == "mongo":
        server: Mongo = request.getfixturevalue("mongo")
        database = f"schedules_{time.time_ns()}"
        state = {"state.kind": "mongo", "state.mongo.uri": server.uri}
        state |= {"state.mongo.database": database}
    paid, late, shaped = topics("paid"), topics("late"), topics("shaped")
    somewhere = place(
        tmp_path_factory.mktemp("schedules"),
        broker.bootstrap_servers,
        topics,
        **state,
        **{
            "publish.lookahead_min": "1500ms",
            "outputs.late_topic": late,
            "outputs.shape": {shaped: {"envelope": "binary", "add": {"team": "orders"}}},
        },
    )
    settings = somewhere.settings.model_copy(
        update={
            "outputs": somewhere.settings.outputs.model_copy(
                update={"allow": [*somewhere.settings.outputs.allow, "held-*", shaped]}
            ),
            "withdraw": [
                _rule(topic=paid, source=somewhere.input, key="$.order", where={"$.ok": "true"})
            ],
        }
    )
    here = Place(settings, somewhere.input, somewhere.out, somewhere.dead)
    with running(spark, settings), here.client() as client:
        client.schedule("warm", topic=here.out, key="warm", at=in_seconds(0))
        wait_for(lambda: here.statuses_of("warm") == ["done"], "the first batch")
        yield here
    ledger = here.stats().ledger
    assert ledger.difference == 0, ledger


def _rule(**given: object) -> object:
    from pipeline.config.blocks import WithdrawSettings

    return WithdrawSettings(**given)


@pytest.fixture
def client(job: Place) -> Iterator[Client]:
    with job.client() as client:
        yield client


def published(read: Read, topic: str, key: str) -> list[Message]:
    found = [message for message in read(topic) if message.key() == key.encode()]
    return sorted(found, key=lambda message: message.offset())


def header(message: Message, name: str) -> str:
    return dict(message.headers() or [])[name].decode()


def effects(job: Place, key: str) -> list[str]:
    from state.open import open_inspector

    rows = open_inspector(job.settings.state).versions(key.encode()).to_pylist()
    orders = [line for line in rows if line[row.KIND] == Kind.COMMAND]
    return [line[row.REASON] for line in sorted(orders, key=lambda line: line[row.SOURCE_OFFSET])]


def test_a_message_repeats_at_its_instants_and_says_which_one_it_is(job, client, read):
    first = in_seconds(3)
    client.schedule(
        "again", topic=job.out, key="every", at=first, repeat=Repeat(every="700ms", count=4)
    )
    wait_for(lambda: job.statuses_of("every").count("done") == 4, "all occurrences")
    messages = published(read, job.out, "every")
    assert [header(m, "duestream-occurrence") for m in messages] == ["1", "2", "3", "4"]
    for n, message in enumerate(messages):
        assert message.timestamp()[1] >= first.timestamp() * 1000 + 700 * n - 1
    assert len({header(m, "duestream-scheduled") for m in messages}) == 4


def test_a_cron_expression_repeats(job, client, read):
    client.schedule("c", topic=job.out, key="cron", repeat=Repeat(cron="@every 1s", count=2))
    wait_for(lambda: job.statuses_of("cron").count("done") == 2, "both")
    assert len(published(read, job.out, "cron")) == 2


@pytest.mark.parametrize(
    ("on_miss", "ends"),
    [
        ("all", ["done", "done", "done"]),
        ("last", ["expired", "done"]),
        ("skip", ["expired"]),
    ],
)
def test_of_occurrences_that_were_missed_those_are_sent_that_were_asked_for(
    job, client, read, on_miss, ends
):
    """Three of them, half an hour ago and before; those passed over are only counted."""
    first, key = in_seconds(-2.5 * 3600), f"missed-{on_miss}"
    repeat = Repeat(every="1h", count=3, on_miss=on_miss)
    client.schedule("late", topic=job.out, key=key, at=first, repeat=repeat)
    wait_for(lambda: sorted(job.statuses_of(key)) == sorted(ends), "the end of the series")
    found = [header(m, "duestream-occurrence") for m in published(read, job.out, key)]
    assert found == {"all": ["1", "2", "3"], "last": ["3"], "skip": []}[on_miss]


def test_a_cancel_ends_a_series(job, client, read):
    client.schedule("s", topic=job.out, key="series", repeat=Repeat(every="500ms", count=1000))
    wait_for(lambda: "done" in job.statuses_of("series"), "the first")
    client.cancel("series", reason="enough", actor="ada")
    wait_for(lambda: effects(job, "series") == ["cancelled"], "the cancel")
    wait_for(lambda: not {"pending", "claimed"} & set(job.statuses_of("series")), "the end")
    done = job.statuses_of("series").count("done")
    numbers = [int(header(m, "duestream-occurrence")) for m in published(read, job.out, "series")]
    assert numbers == list(range(1, done + 1))


def test_an_endless_repeat_is_refused_by_default(job, client, read):
    client.schedule("x", topic=job.out, key="endless", repeat=Repeat(every="1h"))
    wait_for(lambda: len(published(read, job.dead, "endless")) == 1, "the dead letter")
    (letter,) = published(read, job.dead, "endless")
    assert header(letter, "duestream-reason") == "endless_repeat"
    assert letter.value() == b"x"


def test_the_first_is_kept_while_it_is_pending(job, client, read):
    keep = SameKey(policy="keep")
    for n in range(3):
        client.schedule(f"{n}", topic=job.out, key="keep", at=in_seconds(4), same_key=keep)
    wait_for(lambda: job.statuses_of("keep") == ["done", "replaced", "replaced"], "the first")
    assert [m.value() for m in published(read, job.out, "keep")] == [b"0"]
    assert [line[row.REASON] for line in job.rows_of("keep")][1:] == ["kept_first", "kept_first"]


def test_what_settles_goes_out_once_with_its_newest_content(job, client, read):
    settle = SameKey(policy="settle", settle_for="3s")
    for n in range(5):
        client.schedule(f"{n}", topic=job.out, key="settle", same_key=settle)
        time.sleep(0.3)
    wait_for(lambda: "done" in job.statuses_of("settle"), "the message")
    assert [m.value() for m in published(read, job.out, "settle")] == [b"4"]


def test_a_reschedule_moves_and_a_condition_is_held(job, client, read):
    receipt = client.schedule("far", topic=job.out, key="move", at=in_seconds(3600))
    wait_for(lambda: job.statuses_of("move") == ["pending"], "the schedule")
    client.reschedule("move", delay="1s", if_version="9-99")
    wait_for(lambda: effects(job, "move") == ["version_differs"], "the first command")
    client.reschedule("move", delay="1s", if_version=receipt)
    wait_for(lambda: job.statuses_of("move") == ["replaced", "done"], "the message")
    assert [m.value() for m in published(read, job.out, "move")] == [b"far"]
    assert effects(job, "move") == ["version_differs", "rescheduled"]


def test_send_now_answers_where_it_was_asked_to(job, client, read, topics):
    answers = topics("held-answers")
    client.schedule("far", topic=job.out, key="now", at=in_seconds(3600))
    client.send_now("now", reason="urgent", actor="ada", reply_to=answers)
    wait_for(lambda: "done" in job.statuses_of("now"), "the message")
    wait_for(lambda: len(read(answers)) == 1, "the answer")
    said = json.loads(read(answers)[0].value())
    assert (said["effect"], said["who"], said["key"]) == ("rescheduled", "ada", "now")


def test_a_paused_key_waits_for_its_resume(job, client, read):
    client.schedule("p", topic=job.out, key="paused", at=in_seconds(4))
    client.pause("paused", reason="wait")
    wait_for(lambda: effects(job, "paused") == ["paused"], "the pause")
    time.sleep(5)  # past its instant: nothing to wait for
    assert published(read, job.out, "paused") == []
    client.resume("paused")
    wait_for(lambda: job.statuses_of("paused") == ["done"], "the message")
    assert len(published(read, job.out, "paused")) == 1


def test_a_paused_topic_waits_and_what_expires_meanwhile_goes_to_the_late_topic(
    job, client, read, topics
):
    held = topics("held")
    client.pause(topic=held, reason="maintenance")
    client.schedule("kept", topic=held, key="held-kept", at=in_seconds(1))
    client.schedule(
        "stale", topic=held, key="held-stale", at=in_seconds(1), expire_after=timedelta(seconds=2)
    )
    client.schedule("other", topic=job.out, key="held-other", at=in_seconds(1))
    wait_for(lambda: job.statuses_of("held-other") == ["done"], "what is not paused")
    time.sleep(4)  # until the second one has expired
    assert read(held) == []
    client.resume(topic=held)
    wait_for(lambda: job.statuses_of("held-kept") == ["done"], "the message")
    wait_for(lambda: job.statuses_of("held-stale") == ["expired"], "the expiry")
    assert [m.value() for m in read(held)] == [b"kept"]
    (late,) = published(read, job.settings.outputs.late_topic, "held-stale")
    assert (late.value(), header(late, "duestream-reason")) == (b"stale", "expired")


def test_a_record_on_another_topic_withdraws_the_schedule_it_names(job, client, read, broker):
    client.schedule("remind", topic=job.out, key="order-7", at=in_seconds(3600))
    client.schedule("remind", topic=job.out, key="order-8", at=in_seconds(3600))
    wait_for(lambda: job.statuses_of("order-8") == ["pending"], "the schedules")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    (rule,) = job.settings.withdraw
    producer.produce(rule.topic, json.dumps({"order": "order-8", "ok": "false"}))
    producer.produce(rule.topic, b"\xff not JSON")
    producer.produce(rule.topic, json.dumps({"order": "order-7", "ok": "true"}))
    producer.flush()
    wait_for(lambda: job.statuses_of("order-7") == ["cancelled"], "the withdrawal")
    assert job.statuses_of("order-8") == ["pending"]
    client.cancel("order-8")


def test_an_output_has_the_shape_its_topic_is_given(job, client, read):
    (shaped,) = job.settings.outputs.shape
    client.schedule('{"n": 1.50}', topic=shaped, key="shaped", at=in_seconds(1))
    wait_for(lambda: job.statuses_of("shaped") == ["done"], "the message")
    (message,) = published(read, shaped, "shaped")
    assert message.value() == b'{"n": 1.50}'
    assert header(message, "ce_specversion") == "1.0"
    assert header(message, "team") == "orders"
