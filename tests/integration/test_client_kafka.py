"""The client and the sending commands against a real broker."""

import io
import json
import socket
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Message, TopicPartition

from pipeline.cli.main import main
from pipeline.client import Client, Receipt
from pipeline.config.load import load_settings
from pipeline.local_kafka import LocalKafka
from state.errors import ConfigError, KafkaError

TOPIC = "duestream.schedules"
PARTITIONS = 7
NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)
# Keys and their hashes as Kafka's own tests of its Java partitioner have them.
JAVA_HASHES = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"abc": 479470107,
}


@pytest.fixture(scope="module")
def broker() -> Iterator[LocalKafka]:
    with LocalKafka() as kafka:
        kafka.create_topics([TOPIC], partitions=PARTITIONS)
        yield kafka


def record_at(broker: LocalKafka, receipt: Receipt) -> Message:
    assert receipt.partition is not None
    assert receipt.offset is not None
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "look"})
    consumer.assign([TopicPartition(receipt.topic, receipt.partition, receipt.offset)])
    try:
        message = consumer.poll(30)
        assert message is not None
        return message
    finally:
        consumer.close()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_a_schedule_is_where_its_receipt_says(broker: LocalKafka) -> None:
    with Client(broker.bootstrap_servers) as client:
        receipt = client.schedule(b"\xffpayload", topic="orders", key=b"\xfe", at=NOON)
    message = record_at(broker, receipt)
    assert (message.key(), message.value()) == (b"\xfe", b"\xffpayload")
    headers = dict(message.headers() or [])
    assert headers["ce_outputtopic"] == b"orders"
    assert headers["ce_id"] == receipt.id.encode()


def test_a_cancel_goes_after_its_schedule(broker: LocalKafka) -> None:
    with Client(broker.bootstrap_servers) as client:
        scheduled = client.schedule("x", topic="orders", key="gone", delay="1h")
        cancelled = client.cancel("gone")
    assert cancelled.partition == scheduled.partition
    assert (cancelled.offset or 0) > (scheduled.offset or 0)
    assert record_at(broker, cancelled).value() is None


@pytest.mark.parametrize(("key", "java"), JAVA_HASHES.items())
def test_a_key_lands_where_java_puts_it(broker: LocalKafka, key: bytes, java: int) -> None:
    with Client(broker.bootstrap_servers) as client:
        receipt = client.schedule(b"", topic="orders", key=key, delay=timedelta(minutes=1))
    assert receipt.partition == (java & 0x7FFFFFFF) % PARTITIONS


def test_many_go_out_without_waiting_for_each(broker: LocalKafka) -> None:
    with Client(broker.bootstrap_servers, options={"queue.buffering.max.messages": 50}) as client:
        receipts = [
            client.schedule(b"x", topic="orders", delay="1h", wait=False) for _ in range(500)
        ]
        client.flush()
        last = client.schedule(b"x", topic="orders", delay="1h")
    assert len({receipt.key for receipt in receipts}) == 500
    assert last.offset is not None


def test_a_topic_that_does_not_exist_is_told(broker: LocalKafka) -> None:
    quick = {"topic.metadata.propagation.max.ms": 200}
    client = Client(broker.bootstrap_servers, topic="missing", options=quick)
    with pytest.raises(KafkaError, match="missing: the topic does not exist; create it"):
        client.schedule(b"x", topic="orders", delay="1h")


def test_what_was_not_sent_is_told_at_the_flush(broker: LocalKafka) -> None:
    quick = {"topic.metadata.propagation.max.ms": 200}
    client = Client(broker.bootstrap_servers, topic="missing", options=quick)
    for _ in range(3):
        client.schedule(b"x", topic="orders", delay="1h", wait=False)
    with pytest.raises(KafkaError, match="3 of the messages were not sent; missing: the topic"):
        client.flush()
    client.flush()


def test_a_payload_too_large_for_the_client_is_told(broker: LocalKafka) -> None:
    client = Client(broker.bootstrap_servers, options={"message.max.bytes": 1000})
    with pytest.raises(KafkaError, match="larger than the topic takes"):
        client.schedule(b"x" * 2000, topic="orders", delay="1h")


def test_a_broker_that_is_not_there_is_told_with_the_setting(
    capfd: pytest.CaptureFixture[str],
) -> None:
    client = Client(f"127.0.0.1:{free_port()}", timeout=timedelta(seconds=1))
    with pytest.raises(KafkaError, match=r"kafka\.bootstrap_servers: no broker at 127\.0\.0\.1"):
        client.schedule(b"x", topic="orders", delay="1h")
    assert capfd.readouterr().err == ""


def test_an_option_librdkafka_does_not_know_is_told() -> None:
    with pytest.raises(ConfigError, match="No such configuration property"):
        Client(options={"lingre.ms": 5})


def test_settings_lead_to_the_first_source(broker: LocalKafka) -> None:
    flags = {"kafka.bootstrap_servers": broker.bootstrap_servers}
    with Client(load_settings(Path("/dev/null"), flags, {})) as client:
        assert client.schedule(b"x", topic="orders", delay="1h").topic == TOPIC


def run(monkeypatch: pytest.MonkeyPatch, broker: LocalKafka, *args: str) -> int:
    servers = f"kafka.bootstrap_servers={broker.bootstrap_servers}"
    monkeypatch.setattr(
        sys, "argv", ["duestream", *args, "--config", "/dev/null", "--set", servers]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def receipt_in(line: str) -> Receipt:
    told = json.loads(line)
    return Receipt(told["id"], b"", told["topic"], told["partition"], told["offset"])


def test_the_schedule_command_sends_and_tells_where(
    broker: LocalKafka, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ("hello", "--topic", "orders", "--key", "0xfe", "--in", "15m", "--header", "a=b=c")
    assert run(monkeypatch, broker, "schedule", *args, "--json") == 0
    line = capsys.readouterr().out
    assert json.loads(line)["key"] == "0xfe"
    message = record_at(broker, receipt_in(line))
    assert (message.key(), message.value()) == (b"\xfe", b"hello")
    assert dict(message.headers() or [])["a"] == b"b=c"


def test_the_schedule_command_reads_bytes_from_standard_input(
    broker: LocalKafka, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\x00\xff\n")))
    at = ("--at", "2030-01-31T13:00:00+01:00")
    assert run(monkeypatch, broker, "schedule", "-", "--topic", "orders", *at, "--json") == 0
    message = record_at(broker, receipt_in(capsys.readouterr().out))
    assert message.value() == b"\x00\xff\n"
    assert dict(message.headers() or [])["ce_deliverat"] == b"2030-01-31T12:00:00Z"


def test_the_schedule_command_reads_a_file(
    broker: LocalKafka,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    file = tmp_path / "payload"
    file.write_bytes(b"\xca\xfe")
    args = ("--topic", "orders", "--in", "1s", "--file", str(file), "--json")
    assert run(monkeypatch, broker, "schedule", *args) == 0
    assert record_at(broker, receipt_in(capsys.readouterr().out)).value() == b"\xca\xfe"


def test_the_schedule_command_warns_of_a_topic_the_job_would_refuse(
    broker: LocalKafka, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ("x", "--topic", "payroll", "--in", "1h", "--set", "outputs.allow=orders,inv*")
    assert run(monkeypatch, broker, "schedule", *args) == 0
    assert "outputs.allow does not name payroll" in capsys.readouterr().err


def test_the_cancel_command_says_who_cancels(
    broker: LocalKafka, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, broker, "cancel", "order-17", "--actor", "ada", "--json") == 0
    message = record_at(broker, receipt_in(capsys.readouterr().out))
    assert message.key() == b"order-17"
    event = json.loads(message.value())
    assert (event["type"], event["actor"]) == ("io.duestream.cancel.v1", "ada")


def test_a_topic_is_created_once(
    broker: LocalKafka, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, broker, "topic", "create", "new-one", "--partitions", "3") == 0
    assert run(monkeypatch, broker, "topic", "create", "new-one") == 0
    assert capsys.readouterr().out == "created new-one\nnew-one is there already\n"
