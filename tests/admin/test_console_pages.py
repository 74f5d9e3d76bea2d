"""What pages of the console answer without a job beside them: errors, base path, files."""

import hashlib
from pathlib import Path

import pytest

from pipeline.config.load import load_settings
from tests.admin.house import KEY, browser, house
from tests.admin.office import OPERATOR, VIEWER, served

PAGES = ("/", "/messages", "/repeats", "/dead-letters", "/topics", "/commands", "/system")
HTML = {"accept": "text/html"}


@pytest.mark.parametrize("path", PAGES)
def test_every_page_of_an_empty_state_says_that_there_is_nothing(tmp_path: Path, path: str) -> None:
    with house(tmp_path) as url, browser(url, VIEWER) as visiting:
        answer = visiting.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1>" in answer.text


def test_a_state_that_is_not_there_yet_is_told_as_a_page_that_looks_again(tmp_path: Path) -> None:
    flags = {"state.delta.path": str(tmp_path / "none"), "admin.port": "0"}
    settings = load_settings(flags=flags, environ={})
    with served(settings) as url, browser(url) as visiting:
        answer = visiting.get("/", headers=HTML)
    assert answer.status_code == 503
    assert 'http-equiv="refresh"' in answer.text
    assert "Not there yet" in answer.text


def test_programs_get_problems_and_browsers_get_pages_with_the_same_sentence(
    tmp_path: Path,
) -> None:
    with house(tmp_path) as url, browser(url, OPERATOR) as visiting:
        page = visiting.get("/dead-letter", params={"id": "nonsense"}, headers=HTML)
        problem = visiting.get("/dead-letter", params={"id": "nonsense"})
    assert page.status_code == problem.status_code == 422
    assert page.headers["content-type"].startswith("text/html")
    assert problem.json()["detail"].partition(":")[0] in page.text


def test_links_files_and_redirects_lie_below_the_base_path(tmp_path: Path) -> None:
    with house(tmp_path, base_path="/due") as url, browser(url, OPERATOR) as visiting:
        page = visiting.get("/messages").text
        style = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
        there = visiting.get("/theme", params={"to": "dark", "back": "/due/topics"})
        found = visiting.get(style.removeprefix("/due"))
    assert 'href="/messages"' not in page
    assert 'href="/due/messages"' in page
    assert style.startswith("/due/static/console.css?v=")
    assert found.status_code == 200
    assert "immutable" in found.headers["cache-control"]
    assert there.headers["location"] == "/due/topics"


def test_a_file_that_the_browser_has_is_not_sent_again(tmp_path: Path) -> None:
    with house(tmp_path) as url, browser(url) as visiting:
        first = visiting.get("/static/htmx.min.js")
        again = visiting.get(
            "/static/htmx.min.js", headers={"if-none-match": first.headers["etag"]}
        )
        strange = [
            visiting.get(f"/static/{name}").status_code
            for name in ("nothing.css", "htmx.LICENSE.txt", "..%2Frender.py", "__init__.py")
        ]
    assert first.headers["content-type"].startswith("text/javascript")
    assert (again.status_code, again.content) == (304, b"")
    assert strange == [404, 404, 404, 404]


def test_where_nobody_may_act_there_are_no_actions_and_it_says_why(tmp_path: Path) -> None:
    with house(tmp_path, read_only=True) as url, browser(url, OPERATOR) as visiting:
        page = visiting.get("/messages").text
        form = visiting.get("/schedule", headers=HTML)
    assert "admin.read_only is on" in page
    assert 'href="/schedule"' not in page
    assert form.status_code == 403


def test_nothing_in_a_page_needs_more_than_the_policy_allows(tmp_path: Path) -> None:
    with house(tmp_path) as url, browser(url, OPERATOR) as visiting:
        pages = [visiting.get(path) for path in (*PAGES, "/schedule")]
    for page in pages:
        assert " style=" not in page.text
        assert "<script>" not in page.text
        assert " onclick=" not in page.text
        assert "unsafe" not in page.headers["content-security-policy"]


def test_settings_are_shown_without_what_is_secret(tmp_path: Path) -> None:
    with house(tmp_path) as url, browser(url, VIEWER) as visiting:
        page = visiting.get("/system").text
    assert "read_only: false" in page
    assert "olga" in page
    assert hashlib.sha256(OPERATOR.encode()).hexdigest() not in page
    assert KEY not in page
