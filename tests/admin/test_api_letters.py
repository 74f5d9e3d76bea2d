"""Dead letters over HTTP: counted, listed, sent again as they were or mended."""

import json
from typing import Any
from uuid import uuid4

import httpx

from tests.admin.asking import WAIT, new_key, put, refused
from tests.admin.office import VIEWER, Office, served
from tests.integration.running import wait_for


def broken(office: Office, key: str | None = None, **more: object) -> str:
    """Send an event straight to Kafka that the job must refuse; return its key."""
    name = key or new_key()
    wrong = {"specversion": "1.0", "id": "1", "source": "/t", "type": "t", "delayby": "1h"}
    said = wrong | {"outputtopic": "forbidden", "data": 12345678901234567890.5} | more
    with office.place.client() as client:
        client.forward(name.encode(), json.dumps(said).encode())
    return name


def letters_of(asking: httpx.Client, key: str) -> list[dict[str, Any]]:
    found = asking.get("/v1/dead-letters", params={"key": key}).json()["dead_letters"]
    return list(found)


def letter_of(asking: httpx.Client, key: str) -> dict[str, Any]:
    wait_for(lambda: len(letters_of(asking, key)) == 1, "the dead letter")
    return letters_of(asking, key)[0]


def test_a_refused_record_is_listed_with_its_reason(office: Office) -> None:
    with office.ask(VIEWER) as asking:
        letter = letter_of(asking, broken(office))
        reasons = asking.get("/v1/dead-letters/reasons").json()["reasons"]

    assert (letter["kind"], letter["reason"]) == ("rejection", "topic_not_allowed")
    assert "outputs.allow" in letter["detail"] and letter["payload"] is None
    assert "topic_not_allowed" in [each["reason"] for each in reasons]


def test_one_is_mended_and_sent_again(office: Office) -> None:
    with office.ask() as asking:
        letter = letter_of(asking, broken(office))
        at = f"/v1/dead-letters/{letter['id']}"
        text = asking.get(at).json()["event"]
        mended = text.replace("forbidden", office.place.out)
        answer = asking.post(
            f"{at}/resubmit?{WAIT}", content=mended, headers={"content-type": "application/json"}
        )

    assert answer.status_code == 200 and answer.json()["effect"] == "pending"
    assert answer.json()["key"] == letter["key"]


def test_one_that_is_still_wrong_is_told_and_not_sent(office: Office) -> None:
    with office.ask() as asking:
        letter = letter_of(asking, broken(office))
        at = f"/v1/dead-letters/{letter['id']}"
        still = asking.post(f"{at}/resubmit", json={"outputtopic": "forbidden"})
        assert refused(still) == (422, "topic_not_allowed")
        as_it_was = asking.post(f"{at}/resubmit?{WAIT}")
        assert refused(as_it_was) == (422, "topic_not_allowed")


def test_one_whose_key_went_on_is_sent_again_by_force_only(office: Office) -> None:
    with office.ask() as asking:
        key = broken(office)
        letter = letter_of(asking, key)
        put(asking, office, key)
        at = f"/v1/dead-letters/{letter['id']}/resubmit"
        assert refused(asking.post(at)) == (409, "newer_version")
        assert asking.post(f"{at}?force=true").status_code == 202


def test_many_are_told_before_they_are_sent_again(office: Office) -> None:
    reason_topic = f"missing-{uuid4().hex}"  # allowed, and not there: Kafka refuses it for good
    keys = [new_key() for _ in range(3)]
    with office.ask() as asking:
        for key in keys:
            put(asking, office, key, outputtopic=reason_topic, delayby="0s", retrymax="0")
        body = {"where": {"topic": reason_topic}}

        def count() -> int:
            return int(asking.post("/v1/dead-letters/resubmit", json=body).json()["count"])

        wait_for(lambda: count() == 3, "three dead letters")
        told = asking.post("/v1/dead-letters/resubmit", json=body)
        assert (told.status_code, told.json()["dry_run"]) == (200, True)
        assert sorted(told.json()["first"]) == sorted(keys)
        sent = asking.post("/v1/dead-letters/resubmit", json=body | {"dry_run": False})
        assert (sent.status_code, sent.json()["count"]) == (202, 3)
        wait_for(lambda: len(office.place.rows_of(keys[0])) == 2, "it to come again")


def test_pages_of_dead_letters_follow_one_another(office: Office) -> None:
    keys = {broken(office) for _ in range(3)}
    seen: list[tuple[str, str]] = []
    with office.ask(VIEWER) as asking:
        for key in keys:
            letter_of(asking, key)
        params: dict[str, Any] = {"limit": 2, "reason": "topic_not_allowed", "since": "-1h"}
        while True:
            found = asking.get("/v1/dead-letters", params=params).json()
            seen += [(each["id"], each["key"]) for each in found["dead_letters"]]
            if found["next"] is None:
                break
            params["cursor"] = found["next"]

    assert keys <= {key for _, key in seen} and len(seen) == len(set(seen))


def test_nothing_is_sent_again_unless_something_is_chosen(office: Office) -> None:
    with office.ask() as asking:
        answer = asking.post("/v1/dead-letters/resubmit", json={"where": {}})
        assert refused(answer) == (422, "nothing_chosen")
        assert refused(asking.get("/v1/dead-letters/AAAA")) == (422, "invalid_request")


def test_hidden_payloads_are_not_shown_as_events_either(office: Office) -> None:
    settings = office.place.settings
    hidden = settings.model_copy(
        update={"admin": settings.admin.model_copy(update={"hide_payload": True})}
    )
    key = broken(office)
    with served(hidden) as url, office.at(url).ask() as asking:
        letter = letter_of(asking, key)
        shown = asking.get(f"/v1/dead-letters/{letter['id']}")

    assert shown.json()["event"] is None and "12345678901234567890" not in shown.text
