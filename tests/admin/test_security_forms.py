"""Forms and other sites: nobody can have a visitor's browser do what the visitor does not want."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.admin.house import ask, browser, house
from tests.admin.office import OPERATOR, VIEWER


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with house(tmp_path_factory.mktemp("house")) as url:
        yield url


@pytest.fixture(scope="module")
def open_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on loopback that asks nobody who they are."""
    with house(tmp_path_factory.mktemp("open"), tokens=[]) as url:
        yield url


def form_token(visiting: httpx.Client) -> str:
    return str(visiting.get("/probe/page").json()["csrf"])


def test_a_form_of_the_own_page_is_taken_by_field_and_by_header(url: str) -> None:
    with browser(url, OPERATOR) as visiting:
        csrf = form_token(visiting)
        assert visiting.post("/probe/act", data={"csrf": csrf}).json() == {"name": "olga"}
        assert visiting.post("/probe/act", files={"csrf": (None, csrf)}).status_code == 200
        by_header = visiting.post("/probe/act", json={}, headers={"x-csrf-token": csrf})
        assert by_header.status_code == 200


def test_a_form_without_the_right_token_is_refused(url: str) -> None:
    with browser(url, OPERATOR) as visiting, browser(url, OPERATOR) as other:
        own, foreign = form_token(visiting), form_token(other)
        assert own != foreign
        tries: list[dict[str, object]] = [
            {},
            {"data": {"csrf": ""}},
            {"data": {"csrf": "wrong"}},
            {"data": {"csrf": foreign}},
            {"data": {"csrf": own}, "headers": {"x-csrf-token": "wrong"}},
            {"json": {"csrf": own}},
            {"params": {"csrf": own}},
        ]
        for tried in tries:
            told = visiting.post("/probe/act", **tried)  # type: ignore[arg-type]
            assert (told.status_code, told.json()["reason"]) == (403, "foreign_form"), tried
        assert visiting.post("/probe/act", files={"csrf": ("a.txt", own)}).status_code == 400


def test_a_viewer_may_not_act_and_nobody_may_where_it_is_read_only(
    url: str, tmp_path: Path
) -> None:
    with browser(url, VIEWER) as visiting:
        told = visiting.post("/probe/act", data={"csrf": form_token(visiting)})
        assert (told.status_code, told.json()["reason"]) == (403, "not_allowed")
    with house(tmp_path, read_only="true") as still:
        with browser(still, OPERATOR) as visiting:
            told = visiting.post("/probe/act", data={"csrf": form_token(visiting)})
            assert (told.status_code, told.json()["reason"]) == (403, "read_only")
        with ask(still) as asking:
            assert asking.post("/probe/api").json()["reason"] == "read_only"
            assert asking.get("/probe/api").status_code == 200


def test_logging_out_is_a_form_too_and_ends_the_session(url: str) -> None:
    with browser(url, VIEWER) as visiting:
        csrf = form_token(visiting)
        assert visiting.get("/logout").status_code == 405
        assert visiting.post("/logout").status_code == 403
        out = visiting.post("/logout", data={"csrf": csrf})
        assert (out.status_code, out.headers["location"]) == (303, "/login")
        assert "Max-Age=0" in out.headers["set-cookie"]
        assert visiting.get("/probe/page").status_code == 303
        assert visiting.post("/logout", data={"csrf": csrf}).status_code == 401


def test_a_cookie_is_no_way_into_the_api(url: str) -> None:
    with browser(url, OPERATOR) as visiting:
        csrf = form_token(visiting)
        assert visiting.get("/probe/api").status_code == 401
        told = visiting.post("/probe/api", headers={"x-csrf-token": csrf})
        assert told.status_code == 401


@pytest.mark.parametrize(
    "foreign",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://[::1"},
        {"origin": "chrome-extension://127.0.0.1"},
    ],
)
def test_what_another_site_asks_for_changes_nothing(
    url: str, open_url: str, foreign: dict[str, str]
) -> None:
    with browser(url, OPERATOR) as visiting:
        csrf = form_token(visiting)
        told = visiting.post("/probe/act", data={"csrf": csrf}, headers=foreign)
        assert (told.status_code, told.json()["reason"]) == (403, "foreign_page")
        assert visiting.post("/login", data={"token": VIEWER}, headers=foreign).status_code == 403
    with ask(open_url, None) as asking:
        for headers in (foreign, foreign | {"authorization": "Bearer x"}):
            told = asking.post("/probe/api", headers=headers)
            assert (told.status_code, told.json()["reason"]) == (403, "foreign_page")


def test_the_own_pages_and_programs_may_change_things(url: str, open_url: str) -> None:
    host = httpx.URL(open_url)
    own = [
        {},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {"origin": f"http://{host.host}:{host.port}"},
    ]
    with ask(open_url, None) as asking:
        for headers in own:
            assert asking.post("/probe/api", headers=headers).json()["name"] == "local"
    with ask(url) as asking:  # a token is no cookie: who sends it means it
        taken = asking.post("/probe/api", headers={"origin": "https://tools.example"})
        assert taken.status_code == 200


def test_where_nobody_is_asked_a_form_still_has_to_be_of_this_server(open_url: str) -> None:
    with browser(open_url) as visiting, browser(open_url) as other:
        csrf = form_token(visiting)
        assert visiting.cookies
        assert visiting.post("/probe/act", data={"csrf": csrf}).json() == {"name": "local"}
        assert visiting.post("/probe/act").status_code == 403
        assert other.post("/probe/act", data={"csrf": csrf}).status_code == 401
        sent_on = visiting.get("/login?next=/probe/page")
        assert (sent_on.status_code, sent_on.headers["location"]) == (303, "/probe/page")


def test_a_link_of_another_site_leads_to_the_page_of_who_is_logged_in(url: str) -> None:
    with browser(url, VIEWER) as visiting:
        cookies = dict(visiting.cookies)
        visiting.cookies.clear()  # a browser sends none with such a link
        came = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        sent = visiting.get("/probe/page", headers=came)
        arrived = visiting.get(sent.headers["location"], headers=came)
        assert '<meta http-equiv="refresh" content="0; url=/probe/page">' in arrived.text
        visiting.cookies.update(cookies)  # the page leads on by itself, which is not another site
        assert visiting.get("/probe/page").json()["name"] == "vera"


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
        "evil.example",
        "/x\r\nSet-Cookie: a=b",
        "/x\x00y",
        "http:/evil.example",
        "///evil.example",
        " //evil.example",
        "//[",
    ],
)
def test_the_login_leads_to_no_other_site_and_adds_no_header(url: str, wanted: str) -> None:
    with browser(url) as visiting:
        assert 'name="next" value="/"' in visiting.get("/login", params={"next": wanted}).text
        sent = visiting.post("/login", data={"token": VIEWER, "next": wanted})
        assert (sent.status_code, sent.headers["location"]) == (303, "/")
        assert len(sent.headers.get_list("set-cookie")) == 1


def test_the_login_leads_back_to_names_of_any_language_and_to_quotes(url: str) -> None:
    with browser(url) as visiting:
        page = visiting.get("/login", params={"next": '/k/ü"><script>'}).text
        assert "<script>" not in page
        sent = visiting.post("/login", data={"token": VIEWER, "next": "/k/ü?q=a%20b"})
        assert sent.headers["location"] == "/k/%C3%BC?q=a%20b"


def test_the_login_leads_back_to_a_key_of_any_signs(url: str) -> None:
    with browser(url) as visiting:
        sent = visiting.get("/probe/keys/a%2Fb%3Fc%23%C3%BC%20%25?x=1")
        wanted = httpx.URL(sent.headers["location"]).params["next"]
        back = visiting.post("/login", data={"token": VIEWER, "next": wanted})
        assert visiting.get(back.headers["location"]).json() == {"key": "a/b?c#ü %"}
