"""Writing over HTTP: each call is a record on Kafka, and the answer says what came of it."""

import json

import pytest

from tests.admin.asking import WAIT, event, new_key, put, refused
from tests.admin.office import VIEWER, Office
from tests.integration.running import wait_for


def test_a_put_is_on_kafka_when_it_is_answered(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        answer = asking.put(f"/v1/messages/{key}", json=event(office))

        assert answer.status_code == 202
        said = answer.json()
        assert said["version"] == f"{said['partition']}-{said['offset']}" and not said["taken"]
        assert answer.headers["location"] == f"/v1/messages/{key}"
        assert answer.headers["etag"] == f'"{said["version"]}"'
        wait_for(
            lambda: asking.get(answer.headers["location"]).status_code == 200, "the job to take it"
        )


def test_who_waits_is_told_what_came_of_it(office: Office) -> None:
    with office.ask() as asking:
        answer = put(asking, office, new_key(), data={"order": 7})

    said = answer.json()
    assert said["taken"] and said["effect"] == "pending"
    assert said["message"]["payload"] == '{"order":7}'
    assert said["message"]["topic"] == office.place.out


def test_a_message_goes_out_and_has_a_receipt(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        put(asking, office, key, delayby="0s")
        wait_for(
            lambda: asking.get(f"/v1/messages/{key}").json()["message"]["receipt"] is not None,
            "the receipt",
        )
        message = asking.get(f"/v1/messages/{key}").json()["message"]

    assert message["status"] == "done"
    assert message["receipt"]["late_ms"] >= 0 and message["receipt"]["at"].endswith("Z")


def test_the_same_key_again_replaces_what_is_pending(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        put(asking, office, key, data="first")
        put(asking, office, key, data="second")
        known = asking.get(f"/v1/messages/{key}?payload=true").json()

    assert known["message"]["payload"] == "second"
    assert [each["status"] for each in known["versions"]] == ["pending", "replaced"]


def test_an_event_that_its_policy_turns_away_says_so(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        put(asking, office, key)
        answer = put(asking, office, key, onsameid="keep")

    assert answer.json()["effect"] == "kept_first"


def test_cancel_move_and_send_tell_their_effect_and_are_remembered(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        put(asking, office, key)
        at = f"/v1/messages/{key}"
        moved = asking.post(f"{at}/reschedule?{WAIT}", json={"delayby": "2h", "reason": "later"})
        assert (moved.status_code, moved.json()["effect"]) == (200, "rescheduled")
        gone = asking.delete(f"{at}?{WAIT}&reason=done")
        assert (gone.status_code, gone.json()["effect"]) == (200, "cancelled")
        assert refused(asking.post(f"{at}/dispatch?{WAIT}")) == (404, "nothing_pending")
        put(asking, office, key)
        sent = asking.post(f"{at}/dispatch?{WAIT}", json={"reason": "now"})
        assert (sent.status_code, sent.json()["effect"]) == (200, "rescheduled")
        commands = asking.get("/v1/commands", params={"key": key}).json()["commands"]

    told = [(each["command"], each["effect"], each["actor"], each["reason"]) for each in commands]
    assert told == [
        ("sendnow", "rescheduled", "olga", "now"),
        ("sendnow", "nothing_pending", "olga", None),
        ("cancel", "cancelled", "olga", "done"),
        ("reschedule", "rescheduled", "olga", "later"),
    ]


def test_a_move_beyond_the_expiry_is_refused_and_changes_nothing(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        put(asking, office, key, expireafter="1h")
        answer = asking.post(f"/v1/messages/{key}/reschedule?{WAIT}", json={"delayby": "9h"})
        assert refused(answer) == (409, "after_expiry")
        assert asking.get(f"/v1/messages/{key}").json()["message"]["status"] == "pending"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"outputtopic": None}, "missing_attribute"),
        ({"outputtopic": "elsewhere"}, "topic_not_allowed"),
        ({"deliverat": "tomorrow"}, "invalid_time"),
        ({"delayby": "soon"}, "invalid_duration"),
        ({"deliverat": "2500-01-01T00:00:00Z"}, "time_out_of_range"),
        ({"repeatevery": "1s"}, "endless_repeat"),
        ({"onsameid": "sometimes"}, "invalid_policy"),
        ({"data_base64": "?", "data": None}, "invalid_base64"),
        ({"type": "io.duestream.cancel.v1"}, "invalid_command"),
        ({"type": "io.duestream.cancel.v2"}, "invalid_command"),
        ({"specversion": "0.3"}, "unsupported_specversion"),
    ],
)
def test_what_the_job_would_refuse_is_refused_by_the_same_reason(
    office: Office, more: dict[str, str], reason: str
) -> None:
    with office.ask() as asking:
        answer = asking.put(f"/v1/messages/{new_key()}", json=event(office, **more))

    assert refused(answer) == (422, reason)


def test_a_whole_cloudevent_must_be_whole(office: Office) -> None:
    headers = {"content-type": "application/cloudevents+json"}
    body = json.dumps(event(office))
    with office.ask() as asking:
        answer = asking.put(f"/v1/messages/{new_key()}", content=body, headers=headers)

    assert refused(answer) == (422, "missing_attribute")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"a":1} x', b"\xff", b'"\\ud800"'])
def test_what_is_no_json_object_is_told(office: Office, body: bytes) -> None:
    with office.ask() as asking:
        answer = asking.put(
            f"/v1/messages/{new_key()}", content=body, headers={"content-type": "application/json"}
        )

    assert refused(answer) == (422, "invalid_json")


def test_numbers_arrive_digit_for_digit(office: Office) -> None:
    data = '{"a": 12345678901234567890123.5, "b": 1e30, "c": 1.10}'
    body = f'{{"outputtopic": "{office.place.out}", "delayby": "1h", "data": {data}}}'
    with office.ask() as asking:
        answer = asking.put(
            f"/v1/messages/{new_key()}?{WAIT}",
            content=body,
            headers={"content-type": "application/json"},
        )

    assert answer.json()["message"]["payload"] == data


def test_one_topic_or_all_can_be_paused_and_resumed(office: Office) -> None:
    with office.ask() as asking:
        topic = {"scope": "topic", "topic": "missing-pause", "reason": "its consumer is down"}
        held = asking.post(f"/v1/dispatch/pause?{WAIT}", json=topic)
        assert (held.status_code, held.json()["effect"]) == (200, "paused")
        assert "missing-pause" in asking.get("/v1/dispatch").json()["topics"]
        assert {"topic": "missing-pause", "paused": True}.items() <= next(
            each for each in asking.get("/v1/topics").json()["topics"] if each["paused"]
        ).items()
        freed = asking.post(f"/v1/dispatch/resume?{WAIT}", json=topic)
        assert freed.json()["effect"] == "resumed"
        again = asking.post(f"/v1/dispatch/resume?{WAIT}", json=topic)
        assert (again.status_code, again.json()["effect"]) == (200, "not_paused")
        wrong = asking.post("/v1/dispatch/pause", json={"scope": "topic"})
        assert refused(wrong) == (422, "invalid_request")


def test_one_key_can_be_paused_and_is_due_at_no_instant_then(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        put(asking, office, key)
        asking.post(f"/v1/dispatch/pause?{WAIT}", json={"scope": "key", "key": key})
        message = asking.get(f"/v1/messages/{key}").json()["message"]
        listed = asking.get("/v1/messages", params={"paused": True, "key_prefix": key}).json()

    assert message["paused"] and message["due"] is None and message["scheduled"] is not None
    assert [each["key"] for each in listed["messages"]] == [key]


def test_a_viewer_may_not_write(office: Office) -> None:
    with office.ask(VIEWER) as asking:
        for answer in (
            asking.put("/v1/messages/k", json=event(office)),
            asking.post("/v1/messages", json=event(office)),
            asking.delete("/v1/messages/k"),
            asking.post("/v1/messages/k/dispatch"),
            asking.post("/v1/messages/k/reschedule", json={"delayby": "1h"}),
            asking.post("/v1/dispatch/pause", json={"scope": "all"}),
            asking.post("/v1/bulk", json={"action": "cancel", "where": {"topic": "t"}}),
            asking.post("/v1/dead-letters/resubmit", json={"where": {"all": True}}),
        ):
            assert refused(answer) == (403, "not_allowed")


def test_nobody_waits_for_ever(office: Office) -> None:
    with office.ask() as asking:
        for wait in ("61s", "soon", "-1s"):
            answer = asking.delete("/v1/messages/k", params={"wait": wait})
            assert refused(answer) == (422, "invalid_request")


def test_a_topic_that_is_no_source_is_told(office: Office) -> None:
    with office.ask() as asking:
        answer = asking.put("/v1/messages/k?source=elsewhere", json=event(office))

    assert refused(answer) == (422, "unknown_source")
