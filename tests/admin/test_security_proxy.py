"""Behind a proxy: below a path, over TLS, and with the address of whoever asks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.admin.house import ask, browser, house
from tests.admin.office import OPERATOR
from tests.admin.proxy import Proxy, proxied

BELOW = {"base_path": "/tools/due", "trusted_proxies": ["127.0.0.1"]}


@contextmanager
def below(folder: Path, strip: str = "") -> Iterator[tuple[Proxy, httpx.Client]]:
    with (
        house(folder, **BELOW) as url,
        proxied(url.removesuffix("/tools/due"), strip) as proxy,
        proxy.visit(base_url=f"{proxy.url}/tools/due") as visiting,
    ):
        yield proxy, visiting


@pytest.mark.parametrize("strip", ["", "/tools/due"], ids=["whole path", "stripped path"])
def test_all_of_it_works_below_a_path(tmp_path: Path, strip: str) -> None:
    with below(tmp_path, strip) as (proxy, visiting):
        sent = visiting.get("/probe/page")
        assert sent.headers["location"] == "/tools/due/login?next=%2Ftools%2Fdue%2Fprobe%2Fpage"
        form = visiting.get(f"{proxy.url}{sent.headers['location']}")
        assert 'action="/tools/due/login"' in form.text
        back = visiting.post(
            "/login",
            data={"token": OPERATOR, "next": "/tools/due/probe/page"},
            headers={"origin": proxy.url},
        )
        assert back.headers["location"] == "/tools/due/probe/page"
        page = visiting.get("/probe/page").json()
        assert page["name"] == "olga"
        assert visiting.post("/probe/act", data={"csrf": page["csrf"]}).status_code == 200
        out = visiting.post("/logout", data={"csrf": page["csrf"]})
        assert out.headers["location"] == "/tools/due/login"
        away = visiting.post("/login", data={"token": OPERATOR, "next": "/elsewhere"})
        assert away.headers["location"] == "/tools/due/"
        told = visiting.get("/v1/openapi.json").json()
        assert told["servers"] == [{"url": "/tools/due"}]


def test_a_path_that_only_begins_alike_is_not_below(tmp_path: Path) -> None:
    with house(tmp_path, **BELOW) as url, ask(url.removesuffix("/tools/due")) as asking:
        assert asking.get("/tools/due").headers["location"] == "/tools/due/"
        assert asking.get("/tools/duel/probe/api").status_code == 404
        assert asking.get("/tools/due/probe/api").status_code == 200


def test_over_tls_the_cookie_stays_there_and_so_does_the_browser(tmp_path: Path) -> None:
    with below(tmp_path) as (_, visiting):
        sent = visiting.post("/login", data={"token": OPERATOR})
        line = sent.headers["set-cookie"]
        assert line.startswith("__Secure-duestream_session")
        assert line.endswith("; Secure")
        assert "; Path=/tools/due;" in line
        assert sent.headers["strict-transport-security"] == "max-age=31536000"
        whence = visiting.get("/probe/whence").json()
        assert (whence["scheme"], whence["client"]) == ("https", "203.0.113.7")


def test_nobody_is_believed_who_is_no_trusted_proxy(tmp_path: Path) -> None:
    forwarded = {"x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https"}
    for place, trusted in (("a", []), ("b", ["10.0.0.0/8"])):
        with house(tmp_path / place, trusted_proxies=trusted) as url, browser(url) as visiting:
            whence = visiting.get("/probe/whence", headers=forwarded)
            assert (whence.json()["scheme"], whence.json()["client"]) == ("http", "127.0.0.1")
            assert "strict-transport-security" not in whence.headers


def test_an_address_that_a_client_made_up_is_not_believed(tmp_path: Path) -> None:
    made_up = {"x-forwarded-for": "198.51.100.1, 203.0.113.7"}  # the proxy has added the last
    with house(tmp_path, trusted_proxies=["127.0.0.0/8"]) as url, browser(url) as visiting:
        assert visiting.get("/probe/whence", headers=made_up).json()["client"] == "203.0.113.7"
