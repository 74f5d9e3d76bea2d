"""Sessions of the console: who is logged in is told by a cookie that nobody else can make."""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pipeline.admin.doors import Doors
from pipeline.admin.sessions import Session, Sessions
from tests.admin.house import browser, house, settings_for
from tests.admin.office import OPERATOR, TOKENS, VIEWER


def cookie_name(visiting: httpx.Client) -> str:
    return next(iter(visiting.cookies.jar)).name


def cookie(visiting: httpx.Client) -> str:
    return str(next(iter(visiting.cookies.jar)).value)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with house(tmp_path_factory.mktemp("house")) as url:
        yield url


def test_a_page_sends_who_is_not_logged_in_to_the_login_and_back(url: str) -> None:
    with browser(url) as visiting:
        sent = visiting.get("/probe/page?a=1&b=2")
        assert sent.status_code == 303
        assert sent.headers["location"] == "/login?next=%2Fprobe%2Fpage%3Fa%3D1%26b%3D2"

        form = visiting.get(sent.headers["location"])
        assert 'name="next" value="/probe/page?a=1&amp;b=2"' in form.text
        back = visiting.post("/login", data={"token": OPERATOR, "next": "/probe/page?a=1&b=2"})
        assert back.status_code == 303
        assert back.headers["location"] == "/probe/page?a=1&b=2"
        assert visiting.get(back.headers["location"]).json()["name"] == "olga"


def test_a_script_is_not_sent_to_the_login_but_told(url: str) -> None:
    with browser(url) as visiting:
        told = visiting.get("/probe/page", headers={"sec-fetch-mode": "cors"})
        assert told.status_code == 401
        assert told.json()["reason"] == "not_authenticated"


def test_the_cookie_is_for_this_server_and_for_no_script(url: str) -> None:
    with browser(url) as visiting:
        line = visiting.post("/login", data={"token": VIEWER}).headers["set-cookie"]
    assert "; HttpOnly" in line
    assert "; SameSite=Strict" in line
    assert "; Path=/;" in line
    assert VIEWER not in line


def test_a_cookie_that_was_changed_is_no_session(url: str) -> None:
    with browser(url, VIEWER) as visiting:
        name, value = cookie_name(visiting), cookie(visiting)
        body, signature = value.split(".")
        said = json.loads(base64.urlsafe_b64decode(body + "=="))
        forged = base64.urlsafe_b64encode(json.dumps(["olga", "operator", *said[2:]]).encode())
        tries = [
            f"{forged.rstrip(b'=').decode()}.{signature}",
            f"{body}.{signature[:-2]}AA",
            f"{body}.",
            body,
            f".{signature}",
            "...",
            "x" * 5_000,
            "",
        ]
        visiting.cookies.clear()
        for tried in tries:
            answer = visiting.get("/probe/page", headers={"cookie": f"{name}={tried}"})
            assert answer.status_code == 303, tried
        again = visiting.get("/probe/page", headers={"cookie": f"{name}={value}"})
        assert again.json()["name"] == "vera"


def test_no_token_and_a_wrong_token_are_told_on_the_form(url: str) -> None:
    with browser(url) as visiting:
        for token in ("", "wrong", "a.b.c", "\u00fc" * 50):
            told = visiting.post("/login", data={"token": token})
            assert told.status_code == 401
            assert 'role="alert"' in told.text
            assert not visiting.cookies


def test_a_session_of_a_token_that_was_removed_ends(tmp_path: Path) -> None:
    with house(tmp_path / "a") as url, browser(url, OPERATOR) as visiting:
        value = cookie(visiting)
    with house(tmp_path / "b", tokens=TOKENS[1:]) as url, browser(url, VIEWER) as visiting:
        name = cookie_name(visiting)
        visiting.cookies.clear()
        gone = visiting.get("/probe/page", headers={"cookie": f"{name}={value}"})
        assert gone.status_code == 303


def test_a_session_outlives_a_restart_with_the_role_the_settings_have_then(tmp_path: Path) -> None:
    with house(tmp_path / "a") as url, browser(url, OPERATOR) as visiting:
        value = cookie(visiting)
    lowered = [TOKENS[0] | {"role": "viewer"}]
    with house(tmp_path / "b", tokens=lowered) as url, browser(url, OPERATOR) as visiting:
        name = cookie_name(visiting)
        visiting.cookies.clear()
        page = visiting.get("/probe/page", headers={"cookie": f"{name}={value}"})
        assert page.json()["role"] == "viewer"


def test_a_session_ends_in_its_time(tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "made").admin
    sessions = Sessions(settings, Doors(settings))
    who = Doors(settings).who(OPERATOR)
    now = int(time.time())
    with house(tmp_path / "house") as url, browser(url, VIEWER) as visiting:
        name = cookie_name(visiting)
        visiting.cookies.clear()
        for until, status in ((now + 600, 200), (now - 1, 303), (0, 303)):
            value = sessions.cookie(Session(who, until, "x"))
            page = visiting.get("/probe/page", headers={"cookie": f"{name}={value}"})
            assert page.status_code == status


def test_a_session_is_not_taken_by_a_server_with_another_key(tmp_path: Path) -> None:
    with house(tmp_path / "a") as url, browser(url, OPERATOR) as visiting:
        value = cookie(visiting)
    for number, key in enumerate(("another session key, of the right length", "null")):
        with house(tmp_path / str(number), session_key=key) as url, browser(url) as visiting:
            name = f"duestream_session_{httpx.URL(url).port}"
            page = visiting.get("/probe/page", headers={"cookie": f"{name}={value}"})
            assert page.status_code == 303


def test_a_session_of_nobody_ends_when_people_are_asked_who_they_are(tmp_path: Path) -> None:
    with house(tmp_path / "a", tokens=[]) as url, browser(url) as visiting:
        assert visiting.get("/probe/page").json()["name"] == "local"
        value = cookie(visiting)
    with house(tmp_path / "b") as url, browser(url) as visiting:
        name = f"duestream_session_{httpx.URL(url).port}"
        page = visiting.get("/probe/page", headers={"cookie": f"{name}={value}"})
        assert page.status_code == 303


def test_a_copy_of_the_cookie_is_no_session_after_the_logout(url: str) -> None:
    with browser(url, OPERATOR) as visiting, browser(url, OPERATOR) as other:
        name, value = cookie_name(visiting), cookie(visiting)
        token = visiting.get("/probe/page").json()["csrf"]
        assert visiting.post("/logout", data={"csrf": token}).status_code == 303
        stolen = visiting.get("/probe/page", headers={"cookie": f"{name}={value}"})
        assert stolen.status_code == 303
        assert other.get("/probe/page").json()["name"] == "olga"
