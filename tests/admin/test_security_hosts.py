"""Names and headers: the server answers under its own names, and says what a browser may do."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.routing import Mount

from pipeline.admin.app import web_app
from pipeline.admin.guard.hosts import KnownHosts
from pipeline.admin.guard.order import guarded
from tests.admin.house import ask, browser, house, settings_for
from tests.admin.office import OPERATOR, served


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with house(tmp_path_factory.mktemp("house")) as url:
        yield url


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:1", "10.0.0.1", ""],
)
def test_on_loopback_a_name_of_somebody_else_is_refused(url: str, host: str) -> None:
    with ask(url) as asking:
        told = asking.get("/probe/api", headers={"host": host})
    assert (told.status_code, told.json()["reason"]) == (421, "unknown_host")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:8700", "[::1]", "[::1]:8700", "localhost."]
)
def test_on_loopback_its_own_names_are_answered_to(url: str, host: str) -> None:
    with ask(url) as asking:
        assert asking.get("/probe/api", headers={"host": host}).status_code == 200


def test_where_names_are_set_only_they_are_answered_to(tmp_path: Path) -> None:
    with house(tmp_path, hosts=["due.example", "[fd00::1]"]) as url, ask(url) as asking:
        for host, status in {
            "due.example": 200,
            "Due.Example:443": 200,
            "[fd00::1]:8700": 200,
            "localhost": 421,
            "x.due.example": 421,
        }.items():
            assert asking.get("/probe/api", headers={"host": host}).status_code == status


def test_where_any_name_will_do_it_has_to_be_a_name(tmp_path: Path) -> None:
    public = settings_for(tmp_path, host="0.0.0.0").admin  # noqa: S104
    app = KnownHosts(Response("here"), public)

    async def ask_all() -> dict[str, int]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as asking:
            names = ["due.example:443", "a_b", "[::1]:1", "[", "a b", "a/b", "a@b", "", "a:b", "ü"]
            return {
                name: (await asking.get("/", headers={"host": name.encode()})).status_code
                for name in names
            }

    told = asyncio.run(ask_all())
    assert [name for name, status in told.items() if status == 200] == [
        "due.example:443",
        "a_b",
        "[::1]:1",
    ]
    assert set(told.values()) == {200, 421}


def test_every_answer_says_what_a_browser_may_do_with_it(url: str, tmp_path: Path) -> None:
    with ask(url) as asking, browser(url, OPERATOR) as visiting:
        answers = [
            asking.get("/probe/api"),
            asking.get("/nowhere"),
            asking.delete("/probe/api"),
            asking.get("/probe/api", headers={"host": "evil.example"}),
            asking.post("/probe/api", content=b"x" * 3_000_000),
            visiting.get("/probe/page"),
            visiting.get("/login"),
            visiting.post("/probe/act"),
        ]
    assert [answer.status_code for answer in answers] == [200, 404, 405, 421, 413, 200, 303, 403]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        for said in ("default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"):
            assert said in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "geolocation=()" in answer.headers["permissions-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in answer.headers
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


def test_only_files_of_the_console_are_kept_by_a_browser(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.css").write_text("p {}")
    settings = settings_for(tmp_path, base_path="/due")
    app = web_app(settings)
    app.router.routes.insert(0, Mount("/static", StaticFiles(directory=files)))
    with served(settings, guarded(app)) as url, ask(url, None) as asking:
        named = asking.get("/static/a.css?v=1")
        assert named.headers["cache-control"] == "public, max-age=31536000, immutable"
        plain = asking.get("/static/a.css")
        assert plain.headers["cache-control"] == "no-cache"
        again = asking.get("/static/a.css", headers={"if-none-match": plain.headers["etag"]})
        assert again.status_code == 304
        assert asking.get("/static/b.css?v=1").headers["cache-control"] == "no-store"
        assert asking.get("/static/../conf?v=1").headers["cache-control"] == "no-store"
