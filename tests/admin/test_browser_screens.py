"""Every screen in light and dark, wide and narrow: nothing is in the way, and a picture of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.admin.browsing import DESKTOP, PHONE, Surfer, surfing
from tests.admin.furnish import furnish
from tests.admin.office import OPERATOR, VIEWER, Office

pytestmark = pytest.mark.parametrize("office", ["delta"], indirect=True)

SCREENS = {
    "overview": "/",
    "messages": "/messages",
    "messages-done": "/messages?status=done",
    "messages-empty": "/messages?key=there-is-no-such-key",
    "messages-wrong": "/messages?due_from=yesterday",
    "message": "/message?key=order-4715",
    "message-ended": "/message?key=order-4713",
    "repeats": "/repeats",
    "dead-letters": "/dead-letters",
    "topics": "/topics",
    "commands": "/commands",
    "system": "/system",
    "schedule": "/schedule",
    "reschedule": "/act?do=reschedule&key=order-4715",
}


@pytest.fixture(scope="module")
def furnished(office: Office) -> Office:
    furnish(office)
    return office


@pytest.fixture(scope="module", params=["light", "dark"])
def looking(
    request: pytest.FixtureRequest, browser: Browser, furnished: Office
) -> Iterator[tuple[Surfer, str]]:
    with surfing(browser, furnished.url, color_scheme=request.param) as surfer:
        surfer.log_in(OPERATOR)
        yield surfer, request.param


@pytest.mark.parametrize("name", SCREENS)
def test_nothing_on_a_screen_is_in_anybodys_way(
    looking: tuple[Surfer, str], furnished: Office, name: str
) -> None:
    surfer, theme = looking
    page = surfer.page
    for size, suffix in ((DESKTOP, ""), (PHONE, "-phone")):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        surfer.go(SCREENS[name])
        expect(page.locator("main h1, main h2").first).to_be_visible()
        surfer.check_access()
        surfer.picture(f"{name}-{theme}{suffix}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= size[0], f"{name} is {wide} wide on a screen of {size[0]}"


def test_questions_letters_and_the_way_in_are_in_nobodys_way(
    browser: Browser, furnished: Office
) -> None:
    with surfing(browser, furnished.url, color_scheme="dark") as surfer:
        surfer.allowed |= {401, 403, 404}
        page = surfer.go("/login")
        surfer.check_access()
        surfer.picture("login")
        surfer.log_in(OPERATOR)
        surfer.message("order-4715").get_by_role("link", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        surfer.check_access()
        surfer.picture("dialog")
        surfer.go("/dead-letters").get_by_role("link", name="bad", exact=True).click()
        expect(page.locator("#event")).to_be_visible()
        surfer.check_access()
        surfer.picture("dead-letter")
        surfer.go("/messages", key="order-47").get_by_role("button", name="Count them").click()
        expect(page.locator("#number")).to_be_visible()
        surfer.check_access()
        surfer.picture("bulk")
        surfer.go("/no-such-page")
        surfer.check_access()
        surfer.picture("not-found")
        surfer.message("nobody-knows-it")
        surfer.check_access()
        surfer.picture("not-known")


def test_a_screen_can_be_used_by_the_keyboard_alone(browser: Browser, furnished: Office) -> None:
    with surfing(browser, furnished.url) as surfer:
        surfer.log_in(VIEWER)
        page = surfer.go("/")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()


def test_light_and_dark_can_be_chosen_and_are_remembered(
    browser: Browser, furnished: Office
) -> None:
    with surfing(browser, furnished.url, color_scheme="light") as surfer:
        surfer.log_in(VIEWER)
        page = surfer.go("/messages", status="done")
        page.get_by_role("button", name="Dark").click()
        assert page.url.endswith("/messages?status=done")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        surfer.go("/topics")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 29)"
