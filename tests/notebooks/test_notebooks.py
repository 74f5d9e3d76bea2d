"""The notebooks run to their end on both stores, and show what is in the state."""

from typing import Any

import pytest
from making import DONE, FAR, NEAR, REFUSED, Made
from showing import FOLDER, PLOTS, Run

from pipeline.local_kafka import LocalKafka


@pytest.fixture(params=["delta", "mongo"])
def stored(request: pytest.FixtureRequest) -> Made:
    found: Made = request.getfixturevalue(f"on_{request.param}")
    return found


def text_of(run: Run, name: str, variables: dict[str, str]) -> str:
    return run(FOLDER / f"{name}.ipynb", variables).checked(PLOTS[name])


def test_01_shows_what_waits_what_comes_and_how_late_it_was(run: Run, stored: Made) -> None:
    text = text_of(run, "01-inspect", stored.variables)
    assert "difference: 0" in text
    assert f"pending {NEAR + FAR + 4}" in text
    assert f"messages: {DONE} · early: 0 · longest: 249.0 ms" in text
    assert "key: done-000" in text


def test_02_shows_earlier_states_where_there_are_any(run: Run, stored: Made) -> None:
    text = text_of(run, "02-time-travel", stored.variables)
    if stored.kind == "delta":
        # in the last twenty seconds all that is to come was scheduled
        assert f"{NEAR + FAR + 3} messages" in text
        assert "one: as of the commit at" in text
    else:
        assert "This store keeps no earlier states." in text


def test_03_shows_why_and_sends_nothing_unasked(run: Run, stored: Made) -> None:
    nobody = {"NOTEBOOK_RESUBMIT": "yes", "DUESTREAM_KAFKA__BOOTSTRAP_SERVERS": "127.0.0.1:1"}
    asked = nobody if stored.kind == "mongo" else {}
    text = text_of(run, "03-dead-letters", stored.variables | asked)
    assert "unknown_topic" in text and "invalid_json" in text
    assert f"{3 + REFUSED} would be sent" in text
    why = "no broker at 127.0.0.1:1 has the input topic" if asked else "RESUBMIT is not set"
    assert f"Nothing was sent: {why}." in text


def test_04_says_when_messages_will_be_late(run: Run, stored: Made) -> None:
    text = text_of(run, "04-capacity", stored.variables)
    assert f"{DONE} messages in" in text
    assert "measured: 1.0 a second" in text
    assert "At 1.0 a second nothing will wait." in text


def test_03_sends_again_when_told_to(
    run: Run, broker: LocalKafka, read: Any, on_delta: Made
) -> None:
    topic = on_delta.maker.source
    broker.create_topics([topic], partitions=1)
    told = on_delta.variables | {
        "NOTEBOOK_RESUBMIT": "yes",
        "DUESTREAM_KAFKA__BOOTSTRAP_SERVERS": broker.bootstrap_servers,
        "DUESTREAM_SOURCES": f'[{{"topic": "{topic}"}}]',
    }
    text = text_of(run, "03-dead-letters", told)
    assert f"{3 + REFUSED} sent again" in text
    sent = read(topic)
    assert {m.key() for m in sent if m.value() == b"{ this is no event"} == {
        b"refused-%d" % n for n in range(REFUSED)
    }
    assert {m.key() for m in sent if m.value().startswith(b"the message")} == {
        b"dead-%d" % n for n in range(3)
    }
