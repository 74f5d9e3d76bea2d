"""Reading over HTTP: lists by cursor, one key, counts; every answer as its description says."""

import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.admin.asking import event, new_key, put, refused
from tests.admin.office import VIEWER, Office, served
from tests.integration.running import wait_for


@pytest.fixture(scope="module")
def family(office: Office) -> tuple[str, list[str]]:
    """Seven pending messages whose keys begin alike, the next due first."""
    stem = uuid4().hex
    keys = [f"{stem}-{n}" for n in range(7)]
    with office.ask() as asking:
        for n, key in enumerate(keys):
            due = (datetime.now(UTC) + timedelta(hours=2, minutes=n)).isoformat()
            repeat = {"repeatevery": "1h", "repeatcount": "3"} if n == 3 else {}
            asking.put(f"/v1/messages/{key}", json=event(office, deliverat=due, **repeat))
        wait_for(lambda: len(page(asking, key_prefix=stem)["messages"]) == 7, "the job")
    return stem, keys


def page(asking: httpx.Client, **params: Any) -> dict[str, Any]:
    answer = asking.get("/v1/messages", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def keys_of(found: dict[str, Any]) -> list[str]:
    return [each["key"] for each in found["messages"]]


@pytest.mark.parametrize("order", ["due", "-due", "-changed"])
def test_pages_follow_one_another_and_miss_nothing(
    office: Office, family: tuple[str, list[str]], order: str
) -> None:
    stem, keys = family
    seen: list[str] = []
    with office.ask(VIEWER) as asking:
        address: str | None = f"/v1/messages?key_prefix={stem}&limit=3&order={order}"
        while address is not None:
            answer = asking.get(address)
            seen += keys_of(answer.json())
            address = answer.links["next"]["url"] if answer.json()["next"] else None

    wanted = {"due": keys, "-due": keys[::-1]}
    assert seen == wanted.get(order, seen) and sorted(seen) == keys


def test_a_list_can_be_narrowed(office: Office, family: tuple[str, list[str]]) -> None:
    stem, keys = family
    with office.ask(VIEWER) as asking:
        assert keys_of(page(asking, key_prefix=stem, repeating=True)) == [keys[3]]
        assert keys_of(page(asking, key_prefix=stem, status="done")) == []
        assert keys_of(page(asking, key_prefix=stem, status=["done", "pending"])) == keys
        assert keys_of(page(asking, key_prefix=stem, topic="elsewhere")) == []
        assert keys_of(page(asking, key_prefix=stem, source=office.place.input)) == keys
        assert keys_of(page(asking, key_prefix=stem, due_to="+90m")) == []
        assert keys_of(page(asking, key_prefix=stem, due_from="+90m", due_to="+3h")) == keys


def test_a_list_has_no_payloads_unless_asked_for(
    office: Office, family: tuple[str, list[str]]
) -> None:
    with office.ask(VIEWER) as asking:
        without = page(asking, key_prefix=family[0])["messages"][0]
        having = page(asking, key_prefix=family[0], payload=True)["messages"][0]

    assert (without["payload"], without["payload_bytes"], without["headers"]) == (None, None, None)
    assert (having["payload"], having["payload_bytes"], having["headers"]) == ("x", 1, [])


@pytest.mark.parametrize(
    "params",
    [
        {"limit": 0},
        {"limit": 501},
        {"status": "waiting"},
        {"order": "key"},
        {"cursor": "x"},
        {"cursor": "WzFlNDAsMSwxLDEsInQiLDEsIm5leHQtZHVlIl0"},
        {"due_from": "soon"},
        {"key_prefix": "0x6"},
        {"limit": 51, "payload": True},
    ],
)
def test_what_cannot_be_listed_is_told(office: Office, params: dict[str, Any]) -> None:
    with office.ask(VIEWER) as asking:
        assert refused(asking.get("/v1/messages", params=params)) == (422, "invalid_request")


def test_a_cursor_of_another_order_is_refused(
    office: Office, family: tuple[str, list[str]]
) -> None:
    with office.ask(VIEWER) as asking:
        cursor = page(asking, key_prefix=family[0], limit=1)["next"]
        answer = asking.get("/v1/messages", params={"order": "-due", "cursor": cursor})

    assert refused(answer) == (422, "invalid_request")


def test_numbers_that_no_row_can_have_make_no_cursor(office: Office) -> None:
    with office.ask(VIEWER) as asking:
        for place in (
            [10**30, 1, 1, 1, "t", 1, "next-due"],
            [1, 1, 10**18, 1, "t", 1, "next-due"],
            [1, 1, 1, 1, "\ud800", 1, "next-due"],
        ):
            text = urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")
            answer = asking.get("/v1/messages", params={"cursor": text})
            assert refused(answer) == (422, "invalid_request")
            assert refused(asking.get(f"/v1/dead-letters/{text}"))[0] in (404, 422)


def test_a_key_that_nobody_knows_is_not_found(office: Office) -> None:
    with office.ask(VIEWER) as asking:
        assert refused(asking.get(f"/v1/messages/{new_key()}")) == (404, "not_found")
        assert refused(asking.get("/v1/messages/")) == (422, "missing_key")


def test_payloads_are_hidden_from_everybody_if_the_settings_say_so(
    office: Office, family: tuple[str, list[str]]
) -> None:
    key = family[1][0]
    settings = office.place.settings
    hidden = settings.model_copy(
        update={"admin": settings.admin.model_copy(update={"hide_payload": True})}
    )
    with served(hidden) as url, office.at(url).ask() as asking:
        message = asking.get(f"/v1/messages/{key}").json()["message"]

    assert message["payload_hidden"] and message["payload"] is None
    assert message["payload_bytes"] == 1


def test_nobody_acts_where_it_is_read_only(office: Office) -> None:
    settings = office.place.settings
    still = settings.model_copy(
        update={"admin": settings.admin.model_copy(update={"read_only": True})}
    )
    with served(still) as url, office.at(url).ask() as asking:
        answer = asking.put("/v1/messages/k", json=event(office))
        assert refused(answer) == (403, "read_only")
        assert asking.get("/v1/stats").status_code == 200


def test_a_forecast_counts_what_waits_and_what_repeats(
    office: Office, family: tuple[str, list[str]]
) -> None:
    with office.ask(VIEWER) as asking:
        answer = asking.get(
            "/v1/forecast",
            params={"from": "+90m", "to": "+10h", "step": "1h", "topic": office.place.out},
        ).json()
        assert sum(each["waiting"] for each in answer["steps"]) >= 7
        assert sum(each["repeats"] for each in answer["steps"]) >= 2
        assert answer["step"] == "1h"
        for wrong in ({"to": "-1h"}, {"to": "+9000d"}, {"step": "1ms"}, {"from": "soon"}):
            assert refused(asking.get("/v1/forecast", params=wrong))[0] == 422


def test_counts_lateness_and_topics_are_told(office: Office) -> None:
    with office.ask() as asking:
        key = new_key()
        put(asking, office, key, delayby="0s")
        wait_for(lambda: office.place.statuses_of(key) == ["done"], "the message to go out")
        wait_for(
            lambda: asking.get("/v1/lateness", params={"topic": office.place.out}).json()["count"],
            "a receipt",
        )
        late = asking.get("/v1/lateness").json()
        stats = asking.get("/v1/stats").json()
        topics = asking.get("/v1/topics").json()["topics"]

    assert late["early"] == 0 and late["p50_ms"] <= late["max_ms"]
    assert stats["difference"] == 0 and stats["accepted"] >= 1
    assert office.place.out in [each["topic"] for each in topics]


def test_below_a_base_path_addresses_begin_with_it(office: Office) -> None:
    settings = office.place.settings
    below = settings.model_copy(
        update={"admin": settings.admin.model_copy(update={"base_path": "/due"})}
    )
    with served(below) as url, office.at(url).ask() as asking:
        answer = asking.put("/v1/messages/a%2Fb", json=event(office))

    assert answer.headers["location"] == "/due/v1/messages/a%2Fb"
