"""What the API answers without a job beside it: addresses, methods, cursors, and effects."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.admin.sent import Sent
from pipeline.admin.waiting import outcome_in
from tests.admin.asking import refused
from tests.admin.house import ask, house
from tests.state.build import order, put


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with house(tmp_path) as address:
        yield address


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/v1/messages/x", "GET, PUT, DELETE"),
        ("DELETE", "/v1/messages", "GET, POST"),
        ("PUT", "/v1/messages/x/dispatch/y/z", None),  # a key may have slashes
    ],
)
def test_a_method_that_is_not_taken_is_told_with_all_that_are(
    url: str, method: str, path: str, allowed: str | None
) -> None:
    with ask(url) as asking:
        answer = asking.request(method, path, json={})
    if allowed is None:
        assert answer.status_code != 405
        return
    assert refused(answer) == (405, "method_not_allowed")
    assert answer.headers["allow"] == allowed
    assert "the header Allow" in answer.json()["detail"]


def test_an_address_where_nothing_is_is_told_with_the_way_out(url: str) -> None:
    with ask(url) as asking:
        answer = asking.get("/v1/mesages")
    assert refused(answer) == (404, "not_found")
    assert "/v1/openapi.json" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["messages", "commands", "dead-letters"])
def test_a_cursor_that_is_none_is_told_by_its_name(url: str, path: str) -> None:
    with ask(url) as asking:
        answer = asking.get(f"/v1/{path}", params={"cursor": "abc"})
    assert refused(answer) == (422, "invalid_request")
    assert answer.json()["detail"].startswith("cursor: 'abc' is not a place")


def test_the_outcome_of_a_command_has_the_message_of_its_key() -> None:
    sent = Sent("reschedule", "in", 0, 1, b"k")
    old, moved = _row(put(b"k", 0, 5), "replaced"), _row(put(b"k", 1, 9), "pending")
    command = _row(order(1, about=b"k", detail='{"scope": "key"}'), "done")
    found = outcome_in([old, command, moved], sent)
    assert found is not None and (found.effect, found.message) == ("paused", moved)


def test_the_outcome_of_a_command_about_a_topic_has_no_message() -> None:
    command = _row(order(1, about=b"topic", detail='{"scope": "topic"}'), "done")
    other = _row(put(b"topic", 0, 5), "pending")
    found = outcome_in([other, command], Sent("pause", "in", 0, 1, b"topic"))
    assert found is not None and (found.effect, found.message) == ("paused", None)


def _row(line: dict[str, Any], status: str) -> dict[str, Any]:
    return line | {"status": status, "changed_at": 0}
