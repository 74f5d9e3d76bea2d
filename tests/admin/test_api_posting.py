"""POST: events in both modes, keys that are made, and a second try that schedules nothing."""

import json
from uuid import uuid4

from tests.admin.asking import WAIT, event, new_key, refused
from tests.admin.office import Office, served
from tests.integration.running import wait_for

_CLOUDEVENT = {"content-type": "application/cloudevents+json"}


def whole(office: Office, **more: object) -> dict[str, object]:
    return event(office, specversion="1.0", id=uuid4().hex, source="/test", type="t", **more)


def test_a_cloudevent_is_scheduled_under_its_partitionkey(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        body = json.dumps(whole(office, partitionkey=key))
        answer = asking.post(f"/v1/messages?{WAIT}", content=body, headers=_CLOUDEVENT)

    assert answer.status_code == 200 and answer.json()["key"] == key


def test_without_a_key_each_gets_its_own(office: Office) -> None:
    with office.ask() as asking:
        keys = {asking.post("/v1/messages", json=event(office)).json()["key"] for _ in range(3)}

    assert len(keys) == 3


def test_in_binary_mode_the_body_is_the_payload_byte_for_byte(office: Office) -> None:
    key, body = new_key(), bytes(range(256))
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "1",
        "ce-source": "/t%C3%A9st",
        "ce-type": "t",
        "ce-outputtopic": office.place.out,
        "ce-delayby": "1h",
        "ce-correlationid": "na%C3%AFve",
        "content-type": "application/octet-stream",
    }
    with office.ask() as asking:
        answer = asking.put(f"/v1/messages/{key}?{WAIT}", content=body, headers=headers)
        message = answer.json()["message"]

    assert office.place.rows_of(key)[0]["payload"] == body
    assert message["payload"] is None and message["payload_bytes"] == 256
    sent = {each["key"]: each["value"] for each in message["headers"]}
    assert sent == {"content-type": "application/octet-stream", "correlationid": "naïve"}


def test_a_binary_event_is_judged_like_any_other(office: Office) -> None:
    with office.ask() as asking:
        elsewhere = asking.post("/v1/messages", content=b"x", headers={"ce-outputtopic": "no"})
        assert refused(elsewhere) == (422, "topic_not_allowed")
        odd = asking.post("/v1/messages", content=b"x", headers={"ce-output_topic": "no"})
        assert refused(odd) == (422, "invalid_attribute")
        no_text = asking.post("/v1/messages", content=b"x", headers={"ce-outputtopic": "%ff"})
        assert refused(no_text) == (422, "invalid_attribute")


def test_an_empty_body_in_binary_mode_is_an_empty_message_and_no_cancel(office: Office) -> None:
    key, headers = new_key(), {"ce-outputtopic": office.place.out, "ce-delayby": "1h"}
    with office.ask() as asking:
        answer = asking.put(f"/v1/messages/{key}?{WAIT}", content=b"", headers=headers)

    assert answer.json()["effect"] == "pending" and answer.json()["message"]["payload"] == ""


def test_a_content_type_that_is_no_event_is_told(office: Office) -> None:
    with office.ask() as asking:
        answer = asking.post("/v1/messages", content="x", headers={"content-type": "text/plain"})

    assert refused(answer) == (415, "unsupported_content")


def test_the_same_idempotency_key_schedules_once(office: Office) -> None:
    once, body = {"idempotency-key": uuid4().hex}, event(office)
    with office.ask() as asking:
        first = asking.post("/v1/messages", json=body, headers=once)
        second = asking.post("/v1/messages", json=body, headers=once)
        other = asking.post("/v1/messages", json=body | {"data": "y"}, headers=once)

    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert (second.status_code, second.json()) == (first.status_code, first.json())
    assert refused(other) == (422, "idempotency_key_reused")


def test_what_was_refused_may_be_tried_again_under_the_same_idempotency_key(
    office: Office,
) -> None:
    once = {"idempotency-key": uuid4().hex}
    with office.ask() as asking:
        wrong = asking.post("/v1/messages", json=event(office, delayby="soon"), headers=once)
        right = asking.post("/v1/messages", json=event(office), headers=once)

    assert (wrong.status_code, right.status_code) == (422, 202)


def test_after_a_restart_of_the_server_the_state_knows_the_idempotency_key(
    office: Office,
) -> None:
    once, body = {"idempotency-key": uuid4().hex}, event(office)
    with office.ask() as asking:
        first = asking.post(f"/v1/messages?{WAIT}", json=body, headers=once).json()
    with served(office.place.settings) as url, office.at(url).ask() as asking:
        second = asking.post("/v1/messages", json=body, headers=once)

    assert second.headers["idempotent-replayed"] == "true"
    assert (second.json()["key"], second.json()["version"]) == (first["key"], first["version"])
    assert len(office.place.rows_of(first["key"])) == 1


def test_two_users_may_have_the_same_idempotency_key(office: Office) -> None:
    once = {"idempotency-key": uuid4().hex}
    settings = office.place.settings
    tokens = [each.model_copy(update={"name": "another"}) for each in settings.admin.tokens[:1]]
    admin = settings.admin.model_copy(update={"tokens": tokens})
    others = settings.model_copy(update={"admin": admin})
    with office.ask() as asking:
        mine = asking.post("/v1/messages", json=event(office), headers=once).json()["key"]
    with served(others) as url, office.at(url).ask() as asking:
        theirs = asking.post("/v1/messages", json=event(office), headers=once).json()["key"]

    assert mine != theirs


def test_a_message_that_went_out_is_not_sent_twice_for_one_idempotency_key(
    office: Office,
) -> None:
    once, body = {"idempotency-key": uuid4().hex}, event(office, delayby="0s")
    with office.ask() as asking:
        key = asking.post(f"/v1/messages?{WAIT}", json=body, headers=once).json()["key"]
        wait_for(lambda: office.place.statuses_of(key) == ["done"], "the message to go out")
    with served(office.place.settings) as url, office.at(url).ask() as asking:
        again = asking.post("/v1/messages", json=body, headers=once)

    assert again.json()["effect"] == "done" and len(office.place.rows_of(key)) == 1
