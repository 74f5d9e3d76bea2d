"""The local broker serves, comes back, and never outlives the process that started it."""

import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from pipeline.local_kafka import LocalKafka
from state.errors import KafkaError, SetupError


def send(broker: LocalKafka, topic: str, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    producer.produce(topic, value)
    assert producer.flush(30) == 0


def first(broker: LocalKafka, topic: str) -> Message:
    options = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "look"}
    consumer = Consumer({**options, "isolation.level": "read_committed"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        message = consumer.poll(30)
        assert message is not None
        return message
    finally:
        consumer.close()


def test_a_record_sent_is_a_record_read(broker: LocalKafka, topics: Callable[..., str]) -> None:
    topic = topics()
    send(broker, topic, b"here")
    assert first(broker, topic).value() == b"here"


def test_a_transaction_is_seen_when_it_is_committed(
    broker: LocalKafka, topics: Callable[..., str]
) -> None:
    topic = topics()
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(30)
    for value, end in ((b"no", producer.abort_transaction), (b"yes", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value)
        end(30)
    assert first(broker, topic).value() == b"yes"


def test_a_topic_that_exists_is_left_as_it_is(broker: LocalKafka) -> None:
    broker.create_topics(["kept"], partitions=3)
    broker.create_topics(["kept"], partitions=5)
    metadata = broker._admin().list_topics("kept", timeout=30)
    assert len(metadata.topics["kept"].partitions) == 3


def test_a_topic_name_kafka_refuses_is_told(broker: LocalKafka) -> None:
    with pytest.raises(KafkaError, match="topic no/slash cannot be created"):
        broker.create_topics(["no/slash"])


def test_a_killed_broker_comes_back_with_its_data_on_its_port() -> None:
    with LocalKafka() as kafka:
        address, data = kafka.bootstrap_servers, kafka.data
        kafka.create_topics(["t"])
        send(kafka, "t", b"kept")
        kafka.kill()
        assert kafka.pid is None
        kafka.start()
        assert kafka.bootstrap_servers == address
        assert first(kafka, "t").value() == b"kept"
    assert not data.exists()


def test_a_folder_opens_again_on_other_ports(tmp_path: Path) -> None:
    with LocalKafka(tmp_path) as kafka:
        kafka.create_topics(["t"])
        send(kafka, "t", b"kept")
    with LocalKafka(tmp_path) as kafka:
        assert first(kafka, "t").value() == b"kept"


def test_settings_reach_the_broker() -> None:
    with LocalKafka(settings={"message.max.bytes": "2000"}) as kafka:
        kafka.create_topics(["t"])
        refused = []
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
        producer.produce("t", b"x" * 5000, on_delivery=lambda error, _: refused.append(error))
        producer.flush(30)
        assert [error.name() for error in refused] == ["MSG_SIZE_TOO_LARGE"]


def test_a_port_that_is_taken_is_told_with_the_way_out() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        kafka = LocalKafka(port=taken.getsockname()[1])
        with pytest.raises(
            SetupError, match=r"port \d+ on 127\.0\.0\.1 is in use; stop what listens"
        ):
            kafka.start()
        kafka.close()
        assert not kafka.data.exists()


def test_a_setting_kafka_refuses_is_told_with_the_log() -> None:
    kafka = LocalKafka(settings={"num.io.threads": "many"})
    with pytest.raises(SetupError, match=r"(?s)its log ends with:.*num\.io\.threads"):
        kafka.start()
    kafka.close()


PARENT = """
import sys, time
from pipeline.local_kafka import LocalKafka
kafka = LocalKafka().start()
print(kafka.pid, kafka.data, flush=True)
time.sleep(600)
"""


def test_a_broker_does_not_outlive_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        pid, folder = it.stdout.readline().split()
        java = psutil.Process(int(pid))
        leash = java.parent()
        assert leash is not None
        it.kill()
    gone, alive = psutil.wait_procs([java, leash], timeout=60)
    assert not alive
    assert len(gone) == 2
    assert not Path(folder).exists()


def test_a_broker_does_not_outlive_its_leash() -> None:
    kafka = LocalKafka().start()
    java = psutil.Process(kafka.pid)
    leash = java.parent()
    assert leash is not None
    leash.kill()
    _, alive = psutil.wait_procs([java], timeout=60)
    kafka.close()
    assert not alive


RUN = """
from pathlib import Path
from pipeline.local_kafka import run_local_kafka
run_local_kafka(Path({folder!r}), None)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_broker_in_the_foreground_ends_cleanly(tmp_path: Path, number: int) -> None:
    code = RUN.format(folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        assert it.stdout.readline().startswith("127.0.0.1:")
        java = [p for p in psutil.Process(it.pid).children(recursive=True) if "java" in p.name()]
        assert len(java) == 1
        it.send_signal(number)
        assert it.wait(60) == 0
        assert not java[0].is_running()
    assert (tmp_path / "log" / ".kafka_cleanshutdown").exists()
