"""What the GUI of etf1's scheduler reads: is it alive, what is it, what is scheduled."""

import base64
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pipeline.admin.others import others
from pipeline.admin.together import beside
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from state.open import make_state
from tests.admin.office import VIEWER, Office
from tests.integration.running import in_seconds, wait_for


def changed(settings: Settings, **admin: Any) -> Settings:
    return settings.model_copy(update={"admin": settings.admin.model_copy(update=admin)})


@contextmanager
def asking(settings: Settings, token: str | None = None) -> Iterator[httpx.Client]:
    """Serve what the settings ask for beside the first application, and ask it."""
    served = others(settings)
    port = served[0].listening.getsockname()[1]
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    with (
        beside(served),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client,
    ):
        yield client


@pytest.fixture
def gui(office: Office) -> Iterator[httpx.Client]:
    with asking(changed(office.place.settings, etf1_port=0, etf1_open=True)) as client:
        yield client


def test_it_is_alive_while_the_state_can_be_read(gui: httpx.Client) -> None:
    assert gui.get("/liveness").status_code == 200


def test_it_is_not_alive_without_a_state() -> None:
    nowhere = load_settings(
        flags={"admin.etf1_port": "0", "state.delta.path": "data/not-there"}, environ={}
    )
    with asking(nowhere) as client:
        assert client.get("/liveness").status_code == 500


def test_it_tells_where_it_runs_and_on_which_topics(gui: httpx.Client, office: Office) -> None:
    told = gui.get("/info").json()

    assert told.keys() == {"hostname", "address", "server_address", "kafka"}
    assert told["hostname"] == socket.gethostname()
    assert isinstance(told["address"], list)
    assert told["server_address"] == f":{gui.base_url.port}"
    assert told["kafka"] == {
        "bootstrap_servers": office.place.settings.kafka.bootstrap_servers,
        "topics": [office.place.input],
        "history_topic": "",
    }


def test_what_is_scheduled_is_listed_until_it_is_out(gui: httpx.Client, office: Office) -> None:
    due = in_seconds(3600)
    with office.place.client() as client:
        client.schedule(b"\x00\xff", topic=office.place.out, key="gui", at=due)
    wait_for(lambda: "gui" in ids(gui), "the job to take it")

    found = next(each for each in gui.get("/schedules").json() if each["id"] == "gui")

    assert found.pop("timestamp") == pytest.approx(due.timestamp() - 3600, abs=60)
    assert found == {
        "id": "gui",
        "epoch": int(due.timestamp()),
        "topic": office.place.input,
        "target-topic": office.place.out,
        "target-key": "gui",
        "value": base64.b64encode(b"\x00\xff").decode(),
    }
    with office.place.client() as client:
        client.send_now("gui")
    wait_for(lambda: "gui" not in ids(gui), "the job to send it")


def ids(gui: httpx.Client) -> list[str]:
    return [each["id"] for each in gui.get("/schedules").json()]


@pytest.fixture(params=["delta", "mongo"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a state in which nothing is scheduled."""
    flags: dict[str, object] = {"admin.etf1_port": "0", "state.delta.path": str(tmp_path / "state")}
    if request.param == "mongo":
        flags["state.kind"] = "mongo"
        flags["state.mongo.uri"] = request.getfixturevalue("mongo").uri
        flags["state.mongo.database"] = request.getfixturevalue("database")
    settings = load_settings(flags=flags, environ={})
    make_state(settings.state)
    return settings


def test_an_empty_list_is_an_empty_array(empty: Settings) -> None:
    with asking(empty) as gui:
        assert gui.get("/schedules").text == "[]"


def test_payloads_are_hidden_where_the_settings_say_so(office: Office) -> None:
    with office.place.client() as client:
        client.schedule(b"secret", topic=office.place.out, key="hidden", at=in_seconds(3600))
    hiding = changed(office.place.settings, etf1_port=0, etf1_open=True, hide_payload=True)
    with asking(hiding) as gui:
        wait_for(lambda: "hidden" in ids(gui), "the job to take it")
        assert {each["value"] for each in gui.get("/schedules").json()} == {""}


def test_where_tokens_are_asked_for_it_asks_too_unless_it_is_open(office: Office) -> None:
    guarded = changed(office.place.settings, etf1_port=0)
    with asking(guarded) as nobody:
        assert nobody.get("/schedules").status_code == 401
        assert nobody.get("/info").status_code == 401
        assert nobody.get("/liveness").status_code == 200  # tells nothing
    with asking(guarded, VIEWER) as viewer:
        assert viewer.get("/schedules").status_code == 200
