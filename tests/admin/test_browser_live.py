"""What a page does while somebody looks at it: it tells of changes and moves nothing."""

import re

from playwright.sync_api import Browser, expect

from tests.admin.browsing import Surfer, status_is, surfing
from tests.admin.office import OPERATOR, Office
from tests.integration.running import in_seconds, wait_for


def _pending(office: Office, key: str, seconds: float = 3600) -> None:
    with office.place.client() as client:
        client.schedule(b"x", topic=office.place.out, key=key, at=in_seconds(seconds))
    wait_for(lambda: office.place.statuses_of(key) != [], "the job to take it")


def test_a_list_tells_of_changes_and_stays_as_it_is(operator: Surfer, office: Office) -> None:
    _pending(office, "live-1")
    page = operator.go("/messages", key="live-")
    place = page.get_by_role("link", name="live-1").bounding_box()
    _pending(office, "live-2")
    expect(page.locator("#pill")).to_contain_text("One change")
    expect(page.get_by_role("link", name="live-2")).to_have_count(0)
    assert page.get_by_role("link", name="live-1").bounding_box() == place

    with office.place.client() as client:
        client.cancel("live-1")
    expect(page.locator("tbody .badge")).to_have_text("moved on")
    assert page.get_by_role("link", name="live-1").bounding_box() == place

    page.get_by_role("link", name=re.compile("changes")).click()
    expect(page.get_by_role("link", name="live-2")).to_be_visible()
    expect(page.get_by_role("link", name="live-1")).to_have_count(0)


def test_nothing_is_asked_while_live_is_off(operator: Surfer, office: Office) -> None:
    page = operator.go("/")
    live = page.get_by_role("button", name="Live")
    with page.expect_response(lambda answer: "/overview/live" in answer.url):
        pass
    live.click()
    expect(live).to_have_attribute("aria-pressed", "false")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(5_000)
    assert asked == []
    operator.go("/messages")
    expect(live).to_have_attribute("aria-pressed", "false")  # it is remembered


def test_the_page_of_a_message_follows_it_and_keeps_the_view_of_its_payload(
    operator: Surfer, office: Office
) -> None:
    _pending(office, "followed")
    page = operator.message("followed")
    page.get_by_role("link", name="Hex").click()
    expect(page.locator("#payload pre")).to_contain_text("00000000")
    with office.place.client() as client:
        client.send_now("followed")
    status_is(page, "done")
    expect(page.locator("#payload pre")).to_contain_text("00000000")


def test_a_message_that_was_replaced_meanwhile_stays_and_says_so(
    operator: Surfer, office: Office
) -> None:
    _pending(office, "overtaken")
    page = operator.message("overtaken")
    with office.place.client() as client:
        client.schedule(b"new", topic=office.place.out, key="overtaken", at=in_seconds(3600))
    newer = page.get_by_role("link", name="Another version is the current one")
    expect(newer).to_be_visible()
    expect(page.locator("#payload pre")).to_have_text("x")
    newer.click()
    expect(page.locator("#payload pre")).to_have_text("new")


def test_every_journey_can_be_made_without_a_script(browser: Browser, office: Office) -> None:
    with surfing(browser, office.url, java_script_enabled=False) as surfer:
        surfer.log_in(OPERATOR)
        page = surfer.go("/schedule")
        page.get_by_label("Key", exact=True).fill("plain")
        page.get_by_label("Output topic").fill(office.place.out)
        page.get_by_label("When", exact=True).fill("+1h")
        page.get_by_role("button", name="Schedule it").click()
        expect(page.locator("#outcome")).to_be_visible()
        wait_for(lambda: office.place.statuses_of("plain") == ["pending"], "the job to take it")

        surfer.message("plain").get_by_role("link", name="Cancel").click()
        surfer.confirm("without a script", "Cancel the message")
        expect(page.locator("#outcome")).to_be_visible()
        wait_for(lambda: office.place.statuses_of("plain") == ["cancelled"], "the cancel")
        again = page.get_by_role("link", name="Look again")
        if again.count():  # not there if the job was quicker than the page
            again.click()
        status_is(page, "cancelled")
