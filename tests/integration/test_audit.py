"""The audit of output topics, and sending again what is dead, on a real broker."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from pipeline.cli.main import main
from pipeline.clock import now_micros
from pipeline.local_kafka import LocalKafka
from pipeline.outbox.item import items_by_lane
from pipeline.outbox.shapes import TopicShape
from state.duration import parse_duration
from state.open import open_store
from state.row import ROW
from state.settings import DeltaSettings, StateSettings
from tests.state.build import outcome, put, reject, tick

KEYS = [b"a", b"b", b"c"]
Rows = list[dict[str, Any]]
Run = Callable[..., str]
Topics = Callable[..., str]


@pytest.fixture
def run(
    broker: LocalKafka,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Run]:
    def command(*args: str, code: int = 0) -> str:
        given = [
            f"state.delta.path={tmp_path}",
            f"kafka.bootstrap_servers={broker.bootstrap_servers}",
        ]
        flags = [part for setting in given for part in ("--set", setting)]
        monkeypatch.setattr(sys, "argv", ["duestream", *args, "--config", "/dev/null", *flags])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code or 0) == code, told.out + told.err
        return told.out

    return command


def publish(broker: LocalKafka, topic: str, records: list[tuple[bytes, bytes, bytes]]) -> None:
    """Publish in one transaction, so that the log ends with a mark that no consumer sees."""
    options = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic}
    producer = Producer(options)
    producer.init_transactions(30)
    producer.begin_transaction()
    for key, value, fire_id in records:
        producer.produce(topic, value, key, headers=[("duestream-fire-id", fire_id)])
    producer.commit_transaction(30)


def payload(number: int) -> bytes:
    return b"payload of " + KEYS[number] + b" at %d" % number


def fire_id(row: dict[str, Any]) -> bytes:
    return b"in-0-%d-%d" % (row["source_offset"], row["due"])


def rows_for(topic: str) -> Rows:
    return [put(key, n, due=1, output_topic=topic) for n, key in enumerate(KEYS)]


def records_of(rows: Rows) -> list[tuple[bytes, bytes, bytes]]:
    return [(KEYS[n], payload(n), fire_id(row)) for n, row in enumerate(rows)]


def keep(path: Path, commands: Rows, outcomes: Rows) -> None:
    store = open_store(StateSettings(delta=DeltaSettings(path=str(path))))
    store.commit(tick(0, 0, commands, until=2))
    store.commit(tick(1, 3, [], outcomes))
    store.close()


def done(offsets: list[int]) -> Rows:
    place = {"published_partition": 0, "published_at": now_micros()}
    return [
        outcome(KEYS[n], n, "done", **place, published_offset=offset)
        for n, offset in enumerate(offsets)
    ]


def test_the_ledger_closes_when_every_receipt_finds_its_record(
    broker: LocalKafka, topics: Topics, tmp_path: Path, run: Run
) -> None:
    topic = topics("out")
    rows = rows_for(topic)
    publish(broker, topic, records_of(rows))
    keep(tmp_path, rows, done([0, 1, 2]))
    assert run("audit", "--topics").splitlines()[-1] == "the ledger closes"
    told = json.loads(run("audit", "--topics", "--json"))
    assert told["closes"]
    assert (told["topics"]["records"], told["topics"]["matched"]) == (3, 3)


def test_records_in_an_envelope_are_opened_for_the_comparison(
    broker: LocalKafka, topics: Topics, tmp_path: Path, run: Run
) -> None:
    topic = topics("out")
    rows, wrap = rows_for(topic), TopicShape(envelope="structured")
    claims = pa.Table.from_pylist([row | {"status": "claimed"} for row in rows], schema=ROW)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for n, (_, item) in enumerate(items_by_lane(claims, 1)):
        value, headers = wrap.wrapped(payload(n) + b"!" * (n == 2), [], item)
        producer.produce(topic, value, KEYS[n], headers=headers)
    producer.flush(30)
    keep(tmp_path, rows, done([0, 1, 2]))
    told = json.loads(run("audit", "--topics", "--json", code=1))["topics"]
    assert told["matched"] == 2
    assert [each["offset"] for each in told["different"]] == [2]


def test_a_record_that_is_missing_is_found_out(
    broker: LocalKafka, topics: Topics, tmp_path: Path, run: Run
) -> None:
    topic = topics("out")
    rows = rows_for(topic)
    publish(broker, topic, records_of(rows)[:2])
    keep(tmp_path, rows, done([0, 1, 7]))
    told = json.loads(run("audit", "--topics", "--json", code=1))
    assert told["topics"]["missing"] == [{"topic": topic, "partition": 0, "offset": 7}]
    assert (told["difference"], told["topics"]["matched"]) == (0, 2)


def test_a_record_that_kafka_has_deleted_is_gone_by_retention(
    broker: LocalKafka, topics: Topics, tmp_path: Path, run: Run
) -> None:
    topic = topics("out")
    rows = rows_for(topic)
    publish(broker, topic, records_of(rows))
    keep(tmp_path, rows, done([0, 1, 2]))
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for deleted in admin.delete_records([TopicPartition(topic, 0, 2)]).values():
        deleted.result(30)
    told = json.loads(run("audit", "--topics", "--json"))["topics"]
    assert (told["gone_by_retention"], told["matched"], told["missing"]) == (2, 1, [])


def test_a_topic_that_is_gone_has_no_records(tmp_path: Path, run: Run, broker: LocalKafka) -> None:
    keep(tmp_path, rows_for("never-made"), done([0, 1, 2]))
    told = run("audit", "--topics", code=1)
    assert "no record at never-made, partition 0, offset 2, where a receipt says it is" in told


def test_a_record_that_is_doubled_is_found_out(
    broker: LocalKafka, topics: Topics, tmp_path: Path, run: Run
) -> None:
    topic = topics("out")
    rows = rows_for(topic)
    publish(broker, topic, [*records_of(rows), records_of(rows)[1]])
    keep(tmp_path, rows, done([0, 1, 2]))
    told = json.loads(run("audit", "--topics", "--json", code=1))
    places = told["topics"]["published_twice"][fire_id(rows[1]).decode()]
    assert [place["offset"] for place in places] == [1, 3]
    promised_less = ("--set", "publish.guarantee=at_least_once")
    assert "the ledger closes" in run("audit", "--topics", *promised_less)


def test_a_record_whose_row_is_unknown_is_found_out(
    broker: LocalKafka, topics: Topics, tmp_path: Path, run: Run
) -> None:
    topic = topics("out")
    rows = rows_for(topic)
    stray = (b"x", b"y", b"in-0-99-1800000001000000")
    foreign = (b"x", b"y", b"another-0-99-1800000001000000")
    publish(broker, topic, [*records_of(rows), stray, foreign])
    keep(tmp_path, rows, done([0, 1, 2]))
    told = json.loads(run("audit", "--topics", "--json", code=1))
    assert [record["offset"] for record in told["topics"]["without_row"]] == [3]


def test_a_refused_record_is_sent_again_exactly_as_it_came(
    topics: Topics, tmp_path: Path, run: Run, read: Callable[[str], list[Message]]
) -> None:
    source = topics("source", partitions=3)
    came = [
        {"key": "ce_id", "value": b"\xff\x00"},
        {"key": "none", "value": None},
        {"key": "ce_id", "value": b"twice"},
    ]
    said = [{"key": "duestream-reason", "value": b"invalid_time"}]
    place = {"source_topic": source, "source_partition": 2, "due": 0}
    record = place | {"payload": b"\x00raw\xff", "headers": [*came, *said], "key": b"\xfek"}
    refused = reject(5) | record
    letter_out = outcome(b"refused 5", 5, "dead") | {
        "source_topic": source,
        "source_partition": 2,
        "identity": refused["identity"],
    }
    keep(tmp_path, [refused], [letter_out])
    assert "would send rejection 0xfe6b" in run("dead", "resubmit", "0xfe6b", "--dry-run")
    assert read(source) == []
    assert "1 sent, 0 skipped" in run("dead", "resubmit", "--reason", "invalid_time", "--yes")
    [sent] = read(source)
    assert (sent.partition(), sent.key(), sent.value()) == (2, b"\xfek", b"\x00raw\xff")
    assert sent.headers() == [(header["key"], header["value"]) for header in came]


def test_a_dead_message_is_scheduled_again_as_it_was(
    topics: Topics, tmp_path: Path, run: Run, read: Callable[[str], list[Message]]
) -> None:
    source = topics("source")
    dead = put(b"k", 0, due=1) | {
        "source_topic": source,
        "payload": b"\x00raw\xff",
        "output_key": b"other",
        "output_partition": 4,
        "policy": '{"retrymax":"2","retryfor":"PT1H"}',
        "headers": [
            {"key": "content-type", "value": b"image/png"},
            {"key": "traceparent", "value": b"00-1-2-03"},
        ],
    }
    ended = outcome(b"k", 0, "dead", reason="unknown_partition") | {"source_topic": source}
    keep(tmp_path, [dead], [ended])
    assert "1 sent, 0 skipped" in run("dead", "resubmit", "k", "--yes")
    [sent] = read(source)
    assert (sent.key(), sent.value()) == (b"k", b"\x00raw\xff")
    headers = dict(sent.headers() or [])
    expected = {
        "content-type": b"image/png",
        "ce_type": b"io.duestream.schedule.v1",
        "ce_outputtopic": b"out",
        "ce_outputkey": b"other",
        "ce_outputpartition": b"4",
        "ce_retrymax": b"2",
        "ce_traceparent": b"00-1-2-03",
    }
    assert headers.items() >= expected.items()
    spans = [parse_duration(headers[name].decode()) for name in ("ce_retryfor", "ce_delayby")]
    assert spans == [3_600_000_000, 0]
