"""Limits: no client can have the server read, keep or do more than is good for the others."""

import http.client
import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from pipeline.admin.app import web_app
from pipeline.admin.attempts import AT_ONCE
from pipeline.admin.buckets import Buckets, neighbourhood
from pipeline.admin.guard.bodies import BodyLimit
from tests.admin.house import ask, browser, house, probe, settings_for
from tests.admin.office import OPERATOR, VIEWER, served

LIMIT = 5_000


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with house(tmp_path_factory.mktemp("house"), max_body_bytes=str(LIMIT)) as url:
        yield url


def chunks(count: int, size: int = 1_000) -> Iterator[bytes]:
    for _ in range(count):
        yield b"x" * size


def test_a_body_of_the_allowed_size_is_read_said_or_not(url: str) -> None:
    with ask(url) as asking:
        assert asking.post("/probe/api", content=b"x" * LIMIT).json()["size"] == LIMIT
        assert asking.post("/probe/api", content=chunks(5)).json()["size"] == LIMIT


def test_a_body_that_says_it_is_too_large_is_not_waited_for(url: str) -> None:
    asked = httpx.URL(url)
    connection = http.client.HTTPConnection(asked.host, asked.port, timeout=30)
    connection.putrequest("POST", "/probe/api")
    connection.putheader("Authorization", f"Bearer {OPERATOR}")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()  # and not one byte of it
    told = connection.getresponse()
    assert told.status == 413
    assert told.headers["content-type"] == "application/problem+json"
    assert json.loads(told.read())["reason"] == "body_too_large"
    connection.close()


def test_a_body_that_turns_out_too_large_is_not_read_to_its_end(url: str) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 10**9:
            sent += 10_000
            yield b"x" * 10_000

    with ask(url) as asking, suppress(httpx.WriteError, httpx.ReadError):  # when it hangs up on us
        assert asking.post("/probe/api", content=endless()).status_code == 413
    assert sent < 10**9

    with ask(url) as asking:
        told = asking.post("/probe/api", content=chunks(6))
        assert (told.status_code, told.json()["reason"]) == (413, "body_too_large")


@pytest.mark.parametrize("token", [OPERATOR, "wrong"])
def test_who_sends_much_and_is_refused_for_it_or_not_is_told(url: str, token: str) -> None:
    with ask(url, token) as asking:
        for _ in range(5):
            told = asking.post("/probe/api", content=b"x" * 3_000_000)
            assert told.status_code == 413
            assert told.headers["connection"] == "close"


def test_a_client_that_asks_whether_it_may_send_need_not(url: str) -> None:
    asked = httpx.URL(url)
    with socket.create_connection((asked.host, asked.port), timeout=30) as line:
        head = "POST /probe/api HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        line.sendall(f"{head}Content-Length: 10000000\r\n\r\n".encode())
        told = b""
        while part := line.recv(65_536):
            told += part
    assert told.startswith(b"HTTP/1.1 413 ")


def test_a_form_that_is_too_large_is_refused_before_it_is_read(url: str) -> None:
    with browser(url) as visiting:
        told = visiting.post("/login", data={"token": "x" * LIMIT})
        assert (told.status_code, told.json()["reason"]) == (413, "body_too_large")


def test_a_body_that_does_not_come_is_not_waited_for_forever(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    app = web_app(settings)
    app.include_router(probe)
    with served(settings, BodyLimit(app, LIMIT, patience=0.5)) as url:
        asked = httpx.URL(url)
        with socket.create_connection((asked.host, asked.port), timeout=30) as line:
            head = f"POST /probe/api HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {OPERATOR}\r\n"
            line.sendall(f"{head}Content-Length: 1000\r\n\r\nx".encode())
            told = b""
            while part := line.recv(65_536):  # until the server hangs up
                told += part
    assert told.startswith(b"HTTP/1.1 408 ")
    assert b"body_too_slow" in told


def test_headers_that_are_too_large_end_the_connection(url: str) -> None:
    asked = httpx.URL(url)
    with socket.create_connection((asked.host, asked.port), timeout=30) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
        told = b""
        with suppress(ConnectionResetError):
            while part := line.recv(65_536):
                told += part
    assert told.startswith(b"HTTP/1.1 4"), told
    with ask(url) as asking:
        assert asking.get("/probe/api").status_code == 200


def test_of_a_thousand_quick_requests_most_have_to_wait(tmp_path: Path) -> None:
    with house(tmp_path, rate_limit="5") as url, ask(url) as asking, ask(url, VIEWER) as other:
        assert other.get("/probe/api").status_code == 200
        began = time.monotonic()
        answers = [asking.get("/probe/api") for _ in range(1_000)]
        took = time.monotonic() - began
        counted = Counter(answer.status_code for answer in answers)
        assert set(counted) == {200, 429}
        assert 25 <= counted[200] <= 2 * 25 + 5 * (took + 1)  # of the address, then of the token
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["reason"] == "too_many_requests"
        assert int(refused.headers["retry-after"]) >= 1
        # Another token from the same address has requests of its own.
        assert other.get("/probe/api").status_code == 200


def test_many_tokens_that_nobody_has_are_one_client(tmp_path: Path) -> None:
    with house(tmp_path, rate_limit="20") as url, ask(url, None) as asking:
        began = time.monotonic()
        told = Counter(
            asking.get("/probe/api", headers={"authorization": f"Bearer {n}"}).status_code
            for n in range(300)
        )
        took = time.monotonic() - began
    assert set(told) == {401, 429}
    assert AT_ONCE <= told[401] <= AT_ONCE + 1 + took / 5


def test_who_tried_too_many_tokens_has_to_wait_even_with_a_right_one(tmp_path: Path) -> None:
    with house(tmp_path) as url, ask(url) as asking, browser(url) as visiting:
        assert asking.get("/probe/api").status_code == 200
        for n in range(AT_ONCE + 5):
            told = visiting.post("/login", data={"token": f"guess {n}"})
        assert told.status_code == 429
        assert int(told.headers["retry-after"]) >= 1
        assert "too many tokens" in told.text
        assert visiting.post("/login", data={"token": VIEWER}).status_code == 429
        # Who was in before is not locked out by it.
        assert asking.get("/probe/api").status_code == 200


def test_buckets_remember_no_more_clients_than_they_may() -> None:
    buckets = Buckets(rate=1, burst=1, clients=100)
    for n in range(10_000):
        buckets.take(f"client {n}")
    assert len(buckets) == 100


def test_a_bucket_fills_again() -> None:
    buckets = Buckets(rate=50, burst=1)
    assert buckets.take("a") == 0
    wait = buckets.take("a")
    assert 0 < wait <= 0.02
    time.sleep(wait)
    assert buckets.take("a") == 0


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
    ],
)
def test_a_household_is_one_client(address: str, client: str) -> None:
    assert neighbourhood(address) == client
