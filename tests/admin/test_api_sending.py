"""What is sent to Kafka, and what is not, by a server without a job beside it."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from pipeline.local_kafka import LocalKafka
from state.open import make_state, open_store
from state.settings import StateSettings
from tests.admin.asking import WAIT, refused
from tests.admin.house import ask
from tests.admin.office import TOKENS, served
from tests.integration.running import place, wait_for
from tests.state.build import reject, tick


def test_a_record_that_the_job_refused_is_not_sent_again(
    tmp_path: Path, broker: LocalKafka, topics: Callable[..., str], read: Callable[[str], list[Any]]
) -> None:
    flags = {"admin.port": "0", "admin.tokens": TOKENS}
    where = place(tmp_path, broker.bootstrap_servers, topics, **flags)
    make_state(where.settings.state)
    said = {"outputtopic": where.out, "data": "x"}
    once, answers = {"idempotency-key": uuid4().hex}, list[httpx.Response]()
    with served(where.settings) as url, ask(url) as asking:
        asking.timeout = httpx.Timeout(90)

        def post() -> None:
            answers.append(asking.post(f"/v1/messages?key=k&{WAIT}", headers=once, json=said))

        first = threading.Thread(target=post)
        first.start()
        wait_for(lambda: len(read(where.input)) == 1, "the record")
        _refuse(where.settings.state, where.input, read(where.input)[0])
        first.join(60)
        post()
        records = read(where.input)

    assert [refused(answer) for answer in answers] == [(422, "bad_time")] * 2
    assert len(records) == 1


def test_a_pause_of_a_topic_is_about_no_key(
    tmp_path: Path, broker: LocalKafka, topics: Callable[..., str]
) -> None:
    flags = {"admin.port": "0", "admin.tokens": TOKENS}
    where = place(tmp_path, broker.bootstrap_servers, topics, **flags)
    make_state(where.settings.state)
    with served(where.settings) as url, ask(url) as asking:
        of_topic = asking.post("/v1/dispatch/pause", json={"scope": "topic", "topic": where.out})
        of_key = asking.post("/v1/dispatch/pause", json={"scope": "key", "key": "k"})

    assert (of_topic.status_code, of_topic.json()["key"]) == (202, None)
    assert (of_key.status_code, of_key.json()["key"]) == (202, "k")


def _refuse(settings: StateSettings, source: str, record: Any) -> None:
    """Write what the job writes that refuses a record."""
    at = {"source_partition": record.partition(), "source_offset": record.offset()}
    refused_one = reject(0) | at | {"source_topic": source, "key": record.key()}
    store = open_store(settings)
    store.commit(tick(0, commands=[refused_one]))
    store.close()
