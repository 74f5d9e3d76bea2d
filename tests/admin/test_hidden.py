"""What is hidden where payloads are (admin.hide_payload), besides the payloads themselves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from state.open import open_store
from tests.admin.asking import refused
from tests.admin.house import ask, browser, settings_for
from tests.admin.office import OPERATOR, VIEWER, served
from tests.state.build import outcome, put, reject, tick

_QUOTED = "swordfish"
_SENTENCE = "The value is not one JSON object in UTF-8, or it is nested too deeply."
_KEY = b"refused 1"
_DID = {"did": "resubmit", "at": "0-1", "on": "in", "of": _KEY.decode()}


@pytest.fixture(params=[True, False], ids=["hidden", "shown"])
def hide(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def url(tmp_path: Path, hide: bool) -> Iterator[str]:
    """Serve a state in which a record is dead whose reason quotes it, and a message is pending."""
    settings = settings_for(tmp_path, hide_payload=hide)
    quoting = {"reason": "invalid_json", "detail": f"the value '{_QUOTED}' is not one JSON object"}
    store = open_store(settings.state)
    header = {"key": "password", "value": _QUOTED.encode()}
    pending = put(b"k", 0, 10**6, headers=[header])
    store.commit(tick(0, commands=[pending, reject(1) | quoting], until=5))
    store.commit(tick(1, outcomes=[outcome(_KEY, 1, "dead") | quoting]))
    store.close()
    with served(settings) as address:
        yield address


def test_why_a_record_was_refused_is_told_in_general(url: str, hide: bool) -> None:
    with ask(url, VIEWER) as asking, browser(url, VIEWER) as visiting:
        [listed] = asking.get("/v1/dead-letters").json()["dead_letters"]
        told = [
            listed,
            asking.get(f"/v1/dead-letters/{listed['id']}").json(),
            asking.get(f"/v1/messages/{_KEY.decode()}").json()["versions"][0],
        ]
        pages = [
            visiting.get("/dead-letter", params={"id": listed["id"]}).text,
            visiting.get("/message", params={"key": _KEY.decode()}).text,
            visiting.get("/outcome", params=_DID).text,
        ]
    assert [_QUOTED in each["detail"] for each in told] == [not hide] * 3
    assert [_QUOTED in page for page in pages] == [not hide] * 3
    if hide:
        assert {each["detail"] for each in told} == {_SENTENCE}
        assert "invalid_json" in pages[0] and _SENTENCE in pages[0]


def test_values_of_headers_cannot_be_guessed_by_choosing_among_them(url: str, hide: bool) -> None:
    body = {"action": "cancel", "where": {"headers": {"password": _QUOTED}}}
    with ask(url) as asking:
        answer = asking.post("/v1/bulk", json=body)
        others = asking.post("/v1/bulk", json={"action": "cancel", "where": {"topic": "out"}})
    assert others.json()["count"] == 1
    if hide:
        assert refused(answer) == (422, "invalid_request")
        assert answer.json()["detail"].startswith("where.headers: admin.hide_payload is on")
    else:
        assert (answer.status_code, answer.json()["count"]) == (200, 1)


@pytest.mark.parametrize("hide", [True])
def test_what_nobody_sees_is_sent_again_as_it_was_or_not_at_all(url: str) -> None:
    event = '{"outputtopic": "out", "data": "another"}'
    with ask(url) as asking, browser(url, OPERATOR) as visiting:
        [letter] = asking.get("/v1/dead-letters").json()["dead_letters"]
        answer = asking.post(f"/v1/dead-letters/{letter['id']}/resubmit", content=event)
        page = visiting.get("/dead-letter", params={"id": letter["id"]}).text
        token = page.partition('name="csrf" value="')[2].partition('"')[0]
        said = {"id": letter["id"], "do": "mended", "why": "to see", "key": "k", "event": event}
        tried = visiting.post("/dead-letter", data=said | {"csrf": token})
    assert refused(answer) == (403, "payload_hidden")
    assert tried.status_code == 403 and "send it as it was" in tried.text
