"""The pages of dead letters with real ones on them: of every kind, with a key and without."""

import re
from uuid import uuid4

import httpx
import pytest

from tests.admin.house import browser
from tests.admin.office import OPERATOR, VIEWER, Office
from tests.integration.running import wait_for

pytestmark = pytest.mark.parametrize("office", ["delta"], indirect=True)


def _letters(office: Office) -> str:
    """Have a message and two records end as dead; return the topic that is not there."""
    missing = f"missing-{uuid4().hex}"
    before = office.place.stats().ledger.rejected
    with office.place.client() as client:
        client.schedule("x", topic=missing, key="refused-by-kafka", delay="0s", retry_max=0)
        client.forward(b"not-admitted", b"this is no event")
        client.forward(None, b'{"specversion":"1.0","id":"1","source":"/t","type":"t"}')
    wait_for(lambda: office.place.statuses_of("refused-by-kafka")[-1:] == ["dead"], "the message")
    wait_for(lambda: office.place.stats().ledger.rejected >= before + 2, "the records")
    return missing


def _of(page: str, key: str) -> str:
    """Return the id of the first letter of a key."""
    found = re.search(rf'dead-letter\?id=([^"]+)"[^>]*><bdi>{re.escape(key)}<', page)
    assert found, key
    return found[1]


def _shown(visiting: httpx.Client) -> str:
    answer = visiting.get("/dead-letters")
    assert answer.status_code == 200
    return answer.text


def test_dead_letters_of_every_kind_are_listed_and_opened(office: Office) -> None:
    missing = _letters(office)
    with browser(office.url, VIEWER) as visiting:
        wait_for(lambda: "(no key)" in _shown(visiting), "the letters to be out")
        page = _shown(visiting)
        keys = ("refused-by-kafka", "not-admitted", "(no key)")
        opened = [visiting.get(f"/dead-letter?id={_of(page, key)}") for key in keys]
    assert missing in page
    assert [each.status_code for each in opened] == [200, 200, 200]
    assert "a message that Kafka refused for good" in opened[0].text
    assert "a record that was not admitted" in opened[1].text


def test_one_without_a_key_that_is_sent_again_is_looked_for_among_the_dead(office: Office) -> None:
    _letters(office)
    before = office.place.stats().ledger.rejected
    with browser(office.url, OPERATOR) as visiting:
        wait_for(lambda: "(no key)" in _shown(visiting), "the letter to be out")
        name = _of(_shown(visiting), "(no key)")
        page = visiting.get(f"/dead-letter?id={name}").text
        token = page.partition('name="csrf" value="')[2].partition('"')[0]
        form = {"csrf": token, "id": name, "do": "as-it-was", "why": "to see it come back"}
        sent = visiting.post("/dead-letter", data=form)
        told = visiting.get(sent.headers["location"])
    assert sent.headers["location"].startswith("/dead-letters?")
    assert "It was sent again. It has no key" in told.text
    wait_for(lambda: office.place.stats().ledger.rejected == before + 1, "it to come back")
