"""The parts of a soak on a real broker, without a job: what is sent, and what an observer sees."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from confluent_kafka import Producer

from bench.soak_heap import live_mb
from bench.soak_load import SURE_MS, SoakLoad
from bench.soak_observer import SEEN
from pipeline.client import Client
from pipeline.leashed import Leashed
from pipeline.local_kafka import LocalKafka
from tests.acceptance.lives import wait_for
from tests.conftest import Read


def test_the_load_keeps_book_of_all_it_sends(
    broker: LocalKafka, topics: Callable[..., str], read: Read
) -> None:
    source = topics("soak", 2)
    with Client(broker.bootstrap_servers, topic=source) as client:
        load = SoakLoad(client, "out", rate=3000, chance=random.Random(7))
        wait_for(lambda: load.send() or len(load.asked.due) > 2000, "the load")
    asked, records = load.asked, read(source)
    values = [record.value() for record in records]
    cancels, bad = values.count(None), values.count(b"bad")
    assert len(records) == len(asked.due) + cancels + bad
    assert bad == asked.bad > 0
    withdrawn = np.array(asked.withdrawn)
    margins = (np.array(asked.due) - withdrawn)[withdrawn > 0]
    assert len(margins) > cancels > 0  # the others are replaced
    assert margins.min() >= SURE_MS
    assert asked.accepted > len(asked.due)  # some repeat


def test_the_observer_sees_each_message_with_its_instants(
    broker: LocalKafka, topics: Callable[..., str], tmp_path: Path
) -> None:
    out = topics("out", 2, message_timestamp_type="LogAppendTime")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    begun = int(time.time() * 1000)
    for number, every, headers in ((0, 0, []), (1, 500, [("duestream-occurrence", b"3")])):
        body = json.dumps({"n": number, "due": 1000, "every": every})
        producer.produce(out, body, str(number), headers=headers)
    producer.flush()
    plan = {"servers": broker.bootstrap_servers, "output": out, "partitions": 2}
    files = {name: str(tmp_path / name) for name in ("seen", "caught_up")}
    (tmp_path / "plan.json").write_text(json.dumps(plan | files))
    command = [sys.executable, "-m", "bench.soak_observer", str(tmp_path / "plan.json")]
    observer = Leashed(command, tmp_path / "log")
    try:
        wait_for((tmp_path / "caught_up").exists, "the observer to read all there is")
    finally:
        observer.end("kill")
    seen = np.sort(np.fromfile(tmp_path / "seen", SEEN), order="number")
    assert [tuple(entry)[:3] for entry in seen.tolist()] == [(0, 1, 1000), (1, 3, 2000)]
    assert (seen["at"] >= begun).all()


def test_a_java_that_runs_tells_what_lives_in_its_heap(broker: LocalKafka) -> None:
    assert broker.pid is not None
    for _ in range(2):  # the second time it listens already
        live = live_mb(broker.pid)
        assert live is not None
        assert 5 < live < 768  # megabytes: no more than its heap


def test_nothing_is_told_of_a_java_that_is_gone() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert live_mb(gone.pid) is None
