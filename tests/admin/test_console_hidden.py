"""What pages show of real messages where payloads are hidden, or nobody may act."""

import pytest

from tests.admin.house import browser
from tests.admin.office import OPERATOR, Office, served
from tests.integration.running import in_seconds, wait_for

pytestmark = pytest.mark.parametrize("office", ["delta"], indirect=True)

_HIDDEN = "the password is swordfish"


def _pending(office: Office, key: str) -> None:
    with office.place.client() as client:
        client.schedule(
            _HIDDEN,
            topic=office.place.out,
            key=key,
            at=in_seconds(3600),
            headers={"x-secret": _HIDDEN.encode()},
        )
    wait_for(lambda: office.place.statuses_of(key) == ["pending"], "the job to take it")


def test_a_hidden_payload_is_on_no_page(office: Office) -> None:
    _pending(office, "hidden")
    settings = office.place.settings
    hiding = settings.admin.model_copy(update={"hide_payload": True})
    with (
        served(settings.model_copy(update={"admin": hiding})) as url,
        browser(url, OPERATOR) as visiting,
    ):
        shown = visiting.get("/message", params={"key": "hidden"})
        parts = [
            visiting.get("/message", params={"key": "hidden", "view": "hex"}),
            visiting.get("/message/live", params={"key": "hidden"}),
            visiting.get("/schedule", params={"like": "hidden"}),
            visiting.get("/messages", params={"key": "hidden"}),
        ]
        saved = visiting.get("/message/payload", params={"key": "hidden"})
    assert "admin.hide_payload is on" in shown.text
    for page in (shown, *parts):
        assert page.status_code == 200
        assert "swordfish" not in page.text
        assert _HIDDEN.encode().hex(" ")[:20] not in page.text
    assert saved.status_code == 403


def test_where_all_is_read_only_a_message_has_no_actions(office: Office) -> None:
    _pending(office, "untouched")
    settings = office.place.settings
    reading = settings.admin.model_copy(update={"read_only": True})
    with (
        served(settings.model_copy(update={"admin": reading})) as url,
        browser(url, OPERATOR) as visiting,
    ):
        page = visiting.get("/message", params={"key": "untouched"}).text
        token = page.partition('name="csrf" value="')[2].partition('"')[0]
        tried = visiting.post(
            "/act", data={"csrf": token, "do": "cancel", "key": "untouched", "reason": "why"}
        )
    assert _HIDDEN in page
    assert "data-dialog" not in page
    assert tried.status_code == 403
    assert office.place.statuses_of("untouched") == ["pending"]
