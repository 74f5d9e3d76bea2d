"""Pages say that a topic is paused, wherever somebody would take its messages for coming."""

import re
from collections.abc import Iterator

import pytest

from tests.admin.house import browser
from tests.admin.office import VIEWER, Office
from tests.integration.running import in_seconds, wait_for

pytestmark = pytest.mark.parametrize("office", ["delta"], indirect=True)


@pytest.fixture
def paused(office: Office, aside: str) -> Iterator[str]:
    """An output topic that is paused, for which two messages wait."""
    place = office.place
    with place.client() as client:
        for key in ("waits-1", "waits-2"):
            client.schedule("x", topic=aside, key=key, at=in_seconds(2000))
        wait_for(lambda: place.statuses_of("waits-2") == ["pending"], "the messages")
        client.pause(topic=aside, actor="ada", reason="its consumer is down")
        wait_for(lambda: aside in place.stats().pauses.topics, "the pause")
        yield aside
        client.resume(topic=aside)
        wait_for(lambda: aside not in place.stats().pauses.topics, "the end of the pause")


def test_a_paused_topic_is_told_on_every_page_that_shows_its_messages(
    office: Office, paused: str
) -> None:
    with browser(office.url, VIEWER) as visiting:
        pages = {
            path: visiting.get(path).text
            for path in (
                "/",
                "/overview/live",
                f"/messages?topic={paused}",
                "/message?key=waits-1",
                "/topics",
                "/repeats",
            )
        }
        none = visiting.get("/messages?status=paused").text
    for path in ("/", "/overview/live", f"/messages?topic={paused}", "/topics", "/repeats"):
        assert f">{paused}</bdi>" in pages[path].partition("said held")[2], path
    assert pages[f"/messages?topic={paused}"].count("held back</span>") == 2
    assert "its topic is paused" in pages["/message?key=waits-1"]
    counted = re.search(r'id="v-paused">([0-9]+)<', pages["/"])
    assert counted and int(counted[1]) >= 2
    line = pages["/topics"].partition(f"topic={paused}")[2].partition("</tr>")[0]
    assert "when resumed" in line
    assert 'data-label="Held back">2<' in line
    assert "state.keep_closed" not in none
