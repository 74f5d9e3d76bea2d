"""A real browser, a page of another site, and what that page can and cannot do here.

``localhost`` and ``127.0.0.1`` are two sites to a browser, as two names of the internet are.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.admin.chromium import chromium
from tests.admin.house import house
from tests.admin.office import OPERATOR


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with house(tmp_path_factory.mktemp("house")) as url:
        yield url.replace("127.0.0.1", "localhost")


@pytest.fixture(scope="module")
def open_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with house(tmp_path_factory.mktemp("open"), tokens=[]) as url:
        yield url.replace("127.0.0.1", "localhost")


@contextmanager
def another_site(html: str) -> Iterator[str]:
    """Serve one page on 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def log_in(page: Page, url: str) -> None:
    page.goto(f"{url}/probe/page")
    page.fill("#token", OPERATOR)
    page.click("button")
    page.wait_for_url("**/probe/page")


def test_a_link_finds_who_is_logged_in_and_asks_who_is_not(page: Page, url: str) -> None:
    with another_site(f'<a id="go" href="{url}/probe/page">go</a>') as elsewhere:
        log_in(page, url)
        page.goto(elsewhere)
        page.click("#go")
        page.wait_for_url("**/probe/page")
        assert '"olga"' in page.inner_text("body")

        page.context.clear_cookies()
        page.goto(elsewhere)
        page.click("#go")
        page.wait_for_selector("#token")


def test_a_form_of_another_site_does_nothing(page: Page, url: str, open_url: str) -> None:
    log_in(page, url)
    for action in (f"{url}/probe/act", f"{url}/logout", f"{url}/login", f"{open_url}/probe/api"):
        html = f'<form method="post" action="{action}"><button>go</button></form>'
        with another_site(html) as elsewhere:
            page.goto(elsewhere)
            with page.expect_response(action) as told:
                page.click("button")
            assert told.value.status == 403
    page.goto(f"{url}/probe/page")
    assert '"olga"' in page.inner_text("body")


def test_a_script_of_another_site_neither_reads_nor_writes(page: Page, open_url: str) -> None:
    asking = """async ([url, method, mode]) => {
        try {
            const answer = await fetch(url, {method, mode, credentials: "include"});
            return answer.type === "opaque" ? "opaque" : await answer.text();
        } catch (error) { return "blocked"; }
    }"""
    with another_site("<p>hello") as elsewhere:
        page.goto(elsewhere)
        for method in ("GET", "POST", "DELETE"):
            said = page.evaluate(asking, [f"{open_url}/probe/api", method, "cors"])
            assert said == "blocked", method
        for method in ("GET", "POST"):
            said = page.evaluate(asking, [f"{open_url}/probe/api", method, "no-cors"])
            assert said == "blocked", method  # not even unreadable: the answer is for our pages


def test_no_page_shows_the_console_in_a_frame(page: Page, open_url: str) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    with another_site(f'<iframe src="{open_url}/probe/page"></iframe>') as elsewhere:
        page.goto(elsewhere, wait_until="load")
    assert any("frame-ancestors 'none'" in line for line in said)


def test_no_script_reads_the_session(page: Page, url: str) -> None:
    log_in(page, url)
    assert page.evaluate("document.cookie") == ""
