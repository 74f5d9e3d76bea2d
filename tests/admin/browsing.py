"""A real browser, as tests use it: it logs in, keeps what went wrong, and takes pictures."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Response, expect

SCREENS = Path(__file__).parents[2] / "build" / "screens"
DESKTOP, PHONE = (1280, 860), (390, 844)
PATIENCE = 60_000  # milliseconds; other things may run on this machine
_OVERTAKEN = ("ERR_ABORTED", "is interrupted by another navigation")
_QUIET = "Failed to load resource"  # told again by the answer itself

expect.set_options(timeout=PATIENCE)


class Surfer:
    """Somebody with a browser; whatever goes wrong in it makes the test fail at its end."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.wrong: list[str] = []
        self.allowed: set[int] = set()  # statuses of answers that the test asks for
        page.set_default_timeout(PATIENCE)
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("response", self._answered)
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))

    def go(self, path: str, **query: str) -> Page:
        """Open a page."""
        address = self.url + path + (f"?{urlencode(query)}" if query else "")
        try:
            self.page.goto(address)
        except Error as error:
            if not any(told in error.message for told in _OVERTAKEN):
                raise
            self.page.goto(address)  # the page before was just on its way to another
        return self.page

    def log_in(self, token: str) -> None:
        """Log in; the overview comes next."""
        self.go("/login")
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Log in").click()
        expect(self.page.get_by_role("heading", name="Overview")).to_be_visible()

    def message(self, key: str) -> Page:
        """Open the page of a key."""
        return self.go("/message", key=key)

    def confirm(self, reason: str, button: str) -> None:
        """Give the reason that a question asks for, and mean it."""
        self.page.get_by_label("Reason").fill(reason)
        self.page.get_by_role("button", name=button).click()

    def sees_outcome(self, text: str) -> None:
        """Wait until the page tells what came of the last action."""
        expect(self.page.locator("#outcome")).to_contain_text(text)

    def picture(self, name: str) -> None:
        """Keep what is seen."""
        SCREENS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENS / f"{name}.png")

    def check_access(self) -> None:
        """Have axe look at the page; nothing may be in anybody's way."""
        found = Axe().run(self.page)["violations"]
        assert not found, "\n".join(map(_violation, found))

    def check(self) -> None:
        """Fail if anything went wrong."""
        assert not self.wrong, self.wrong

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_QUIET):
            self.wrong.append(f"console: {message.text}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.allowed:
            self.wrong.append(f"{response.status} {response.request.method} {response.url}")


@contextmanager
def surfing(browser: Browser, url: str, **options: Any) -> Iterator[Surfer]:
    """Open a window of its own, without cookies."""
    size = options.pop("size", DESKTOP)
    viewport = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=viewport, locale="en-GB", **options)
    surfer = Surfer(context.new_page(), url)
    try:
        yield surfer
    finally:
        context.close()
    surfer.check()


def status_is(page: Page, status: str) -> None:
    """Wait until the message that the page shows has a status."""
    expect(page.locator("#status")).to_have_text(re.compile(rf"^\s*{status}\s*$"))


def _violation(found: dict[str, Any]) -> str:
    places = [str(node["target"]) + " " + node["failureSummary"] for node in found["nodes"][:3]]
    return f"{found['id']}: {found['help']}: {places}"
