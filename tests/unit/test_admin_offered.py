"""An event that comes over HTTP becomes the record it is, and nothing of it is lost or forged."""

import json

import pytest

from pipeline.admin.offered import acted, attributes_of, offered
from pipeline.admin.problems import Problem

JSON = "application/json; charset=utf-8"
EVENTS = "application/cloudevents+json"


def test_the_envelope_is_filled_in_and_the_rest_stays_as_it_was_written() -> None:
    body = b'{"outputtopic": "t", "data" : [1e30, 0.10, 12345678901234567890123.5], "id": null}'
    event = offered(JSON, {}, body)

    assert b"[1e30, 0.10, 12345678901234567890123.5]" in event.value
    said = json.loads(event.value)
    assert said["specversion"] == "1.0" and len(said["id"]) == 36
    assert event.headers == (("content-type", EVENTS.encode()),)


def test_of_two_members_with_one_name_the_last_counts() -> None:
    event = offered(JSON, {}, b'{"outputtopic": "a", "outputtopic": "b"}')

    assert event.value.count(b"outputtopic") == 1 and json.loads(event.value)["outputtopic"] == "b"


def test_a_whole_event_gets_nothing_but_its_actor() -> None:
    event = acted(offered(EVENTS, {}, b'{"type":"t","actor":"forged"}'), "olga")

    assert json.loads(event.value) == {"type": "t", "actor": "olga"}


def test_a_binary_event_has_its_attributes_as_headers_and_its_body_as_value() -> None:
    sent = {"CE-Id": "7", "ce-subject": "caf%C3%A9%20%25", "ce-actor": "forged", "other": "x"}
    event = acted(offered("text/plain", attributes_of(sent), b"\x00\xff"), "olga")
    headers = dict(event.headers)

    assert event.value == b"\x00\xff"
    assert headers["ce_id"] == b"7" and headers["ce_subject"] == "café %".encode()
    assert headers["ce_actor"] == b"olga" and headers["content-type"] == b"text/plain"
    assert json.loads(event.judged)["data_base64"] == "AP8="


def test_the_key_of_an_event_is_its_partitionkey() -> None:
    assert offered(JSON, {}, b'{"partitionkey": "k"}').key == "k"
    assert offered(JSON, {}, b'{"partitionkey": 7}').key == "7"
    assert offered(JSON, {}, b'{"partitionkey": ["k"]}').key is None
    assert offered(None, {"partitionkey": "k"}, b"").key == "k"


@pytest.mark.parametrize(
    ("content_type", "attributes", "body", "reason"),
    [
        (JSON, {}, b"[]", "invalid_json"),
        (JSON, {}, b"\xff", "invalid_json"),
        ("text/plain", {}, b"x", "unsupported_content"),
        ("application/cloudevents-batch+json", {}, b"[]", "unsupported_content"),
        ("text/plain", {"data": "x"}, b"x", "invalid_attribute"),
        ("text/plain", {"a_b": "x"}, b"x", "invalid_attribute"),
        ("text/plain", {"a": "%80"}, b"x", "invalid_attribute"),
    ],
)
def test_what_is_no_event_is_told(
    content_type: str, attributes: dict[str, str], body: bytes, reason: str
) -> None:
    with pytest.raises(Problem) as told:
        offered(content_type, attributes, body)

    assert told.value.reason == reason
