"""Hostile keys and payloads come back as they were sent, and do nothing on the way."""

from pipeline.keys import key_text
from tests.admin.asking import WAIT, event, new_key, put, refused
from tests.admin.office import Office
from tests.integration.running import wait_for

_KEYS = [
    "<script>alert(1)</script>",
    "a/b//c/../d",
    "..",
    "100% sure? #1 & more",
    "‮right to left",
    "שלום/مرحبا",
    "line\nbreak\x00\x1b[31m",
    "0xnot hex",
    "emoji 🦊",
    "x" * 1_900,
]
_PAYLOADS = [
    "<img src=x onerror=alert(1)>",
    "\u202etxt.exe",
    "\x00\x01\x1b[2J\r\n",
    '{"__proto__": {"x": 1}}',
    "\N{REPLACEMENT CHARACTER}",
    "",
]


def test_any_key_can_be_scheduled_found_and_cancelled(office: Office) -> None:
    keys = [f"{stem}{new_key()}".encode() for stem in _KEYS]
    with office.ask() as asking:
        puts = {key: asking.put(f"/v1/messages/0x{key.hex()}", json=event(office)) for key in keys}
        for key, answer in puts.items():
            at = answer.headers["location"]
            assert (answer.status_code, answer.json()["key"]) == (202, key_text(key))
            wait_for(lambda at=at: asking.get(at).status_code == 200, "the job to take it")  # type: ignore[misc]
            assert asking.get(at).json()["message"]["version"] == answer.json()["version"]
            listed = asking.get("/v1/messages", params={"key_prefix": f"0x{key.hex()}"}).json()
            assert [each["key"] for each in listed["messages"]] == [key_text(key)]
            asking.delete(at)
        last = puts[keys[-1]].headers["location"]
        assert refused(asking.delete(f"{last}?{WAIT}")) == (404, "nothing_pending")
        ends = [asking.get(each.headers["location"]).json() for each in puts.values()]

    assert [each["message"]["status"] for each in ends] == ["cancelled"] * len(keys)


def test_a_key_with_slashes_may_be_written_as_it_is(office: Office) -> None:
    key = f"orders/{new_key()}/dispatch"
    with office.ask() as asking:
        put(asking, office, key)
        assert asking.get(f"/v1/messages/{key}").json()["message"]["key"] == key
        sent = asking.post(f"/v1/messages/{key}/dispatch?{WAIT}")
        assert (sent.json()["key"], sent.json()["effect"]) == (key, "rescheduled")


def test_bytes_that_are_no_text_are_refused_in_an_address_and_taken_as_hex(
    office: Office,
) -> None:
    with office.ask() as asking:
        wrong = asking.put("/v1/messages/%ff%fe", json=event(office))
        assert refused(wrong) == (422, "invalid_request")
        answer = asking.put(f"/v1/messages/0xfffe?{WAIT}", json=event(office))
        assert answer.json()["key"] == "0xfffe"
        assert refused(asking.get("/v1/messages/0xff0")) == (422, "invalid_request")
        assert refused(asking.put("/v1/messages/0x", json=event(office)))[1] == "missing_key"


def test_any_payload_comes_back_as_json_and_nothing_else(office: Office) -> None:
    with office.ask() as asking:
        sent = {
            payload: asking.put(f"/v1/messages/{new_key()}", json=event(office, data=payload))
            for payload in _PAYLOADS
        }
        for payload, answer in sent.items():
            at = answer.headers["location"]
            wait_for(lambda at=at: asking.get(at).status_code == 200, "the job to take it")  # type: ignore[misc]
            found = asking.get(at)
            assert found.headers["content-type"] == "application/json"
            assert found.json()["message"]["payload"] == payload


def test_a_payload_of_nearly_a_megabyte_goes_through(office: Office) -> None:
    key, headers = new_key(), {"ce-outputtopic": office.place.out, "ce-delayby": "1h"}
    with office.ask() as asking:
        answer = asking.put(f"/v1/messages/{key}?{WAIT}", content=b"<" * 990_000, headers=headers)
        assert answer.status_code == 200
        assert len(asking.get(f"/v1/messages/{key}").json()["message"]["payload"]) == 990_000
        listed = asking.get("/v1/messages", params={"key_prefix": key})
        assert len(listed.content) < 5_000


def test_what_is_too_large_is_told_and_not_sent(office: Office) -> None:
    headers = {"ce-outputtopic": office.place.out, "ce-delayby": "1h"}
    with office.ask() as asking:
        beyond = asking.put("/v1/messages/k", content=b"x" * 1_000_001, headers=headers)
        assert refused(beyond) == (422, "payload_too_large")
        key = "0x" + (b"k" * 65_537).hex()
        body = {"action": "cancel", "where": {"keys": [key]}}
        assert asking.post("/v1/bulk", json=body).status_code in (200, 422)
        # Within our limit, and beyond what a record on the topic may have with its envelope.
        escaped = "\x01" * 300_000
        large = asking.put("/v1/messages/k", json=event(office, data=escaped))
        assert refused(large) == (413, "too_large_for_topic")


def test_reasons_and_filters_of_any_text_do_no_harm(office: Office) -> None:
    key, why = new_key(), "'; DROP TABLE x; -- <b> ‮ \x00 {$ne: 1}"
    with office.ask() as asking:
        put(asking, office, key)
        asking.delete(f"/v1/messages/{key}", params={"reason": why, "wait": "60s"})
        commands = asking.get("/v1/commands", params={"key": key}).json()["commands"]
        assert [each["reason"] for each in commands] == [why]
        for name in ("topic", "source", "key_prefix"):
            listed = asking.get("/v1/messages", params={name: why})
            assert (listed.status_code, listed.json()["messages"]) == (200, [])


def test_an_actor_cannot_be_forged(office: Office) -> None:
    key = new_key()
    with office.ask() as asking:
        put(asking, office, key, actor="somebody else")
        headers = {"ce-outputtopic": office.place.out, "ce-delayby": "1h", "ce-actor": "x"}
        asking.put(f"/v1/messages/{key}?{WAIT}", content=b"x", headers=headers)
        asking.delete(f"/v1/messages/{key}?{WAIT}")
        commands = asking.get("/v1/commands", params={"key": key}).json()["commands"]

    assert [each["actor"] for each in commands] == ["olga"]
