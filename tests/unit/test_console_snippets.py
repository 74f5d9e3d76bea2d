"""The commands that a page offers to copy say what the message says, whatever stands in it."""

import json
import shlex
import subprocess
from base64 import b64decode
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from typer.main import get_command

from pipeline.admin.console.snippets import _OPTIONS, Snippets, snippets
from pipeline.admin.console.visit import Visit
from pipeline.cli.main import app
from pipeline.config.load import load_settings
from pipeline.keys import key_bytes
from pipeline.option_names import OPTIONS
from state import row as r
from state.rules.policy import Policy
from state.rules.repeat import Repeat
from tests.unit.test_console_again import DUE, SECOND, header, known

_SHELL = 'duestream() { printf "%s\\0" "$@"; [ "${!#}" != - ] || { printf "\\1"; cat; }; }; '
_KEYS = [b"-rf", b"--help", b"..", b".", b"a/../b", b"a//b", b"/", b"$(id)", b"`id`'\"", b"a b"]
_KEYS += [b"\xff\x00", b"0x12", b"line\nbreak", "käse 🦊".encode(), b"?a=1&b#c", b"%2e%2e"]
_PAYLOADS = [
    b"--help",
    b"-",
    b"",
    b"-rf",
    b"'; rm -rf /",
    b"two\nlines",
    b"\r\n",
    b"\xff\x00",
    b"@a",
]


def _of(row: dict[str, Any], several: bool = False, **admin: object) -> Snippets:
    flags = {f"admin.{name}": value for name, value in admin.items()}
    settings = load_settings(flags=flags, environ={})
    visit = Visit(None, settings, "/due", "/", "/", "auto", "", "http://localhost:8700")
    return snippets(visit, row, several)


def _typed(command: str) -> tuple[dict[str, Any], bytes]:
    """Run a command in a shell; return what the command line reads, and the payload it gets."""
    ran = subprocess.run(["/bin/bash", "-c", _SHELL + command], capture_output=True, check=True)
    words, _, piped = ran.stdout.partition(b"\x01")
    name, *arguments = [word.decode() for word in words.split(b"\0")[:-1]]
    parser = get_command(app).commands[name]  # type: ignore[attr-defined]
    given = parser.make_context(name, arguments).params
    payload = given.get("payload")
    return given, piped if payload == "-" else (payload or "").encode()


def _sent(command: str) -> tuple[str, dict[str, Any]]:
    """Return the path and the event that curl would send."""
    words = shlex.split(command)
    event = json.loads(words[words.index("-d") + 1]) if "-d" in words else {}
    return urlsplit(words[-1]).path, event


@pytest.mark.parametrize("key", _KEYS)
def test_any_key_survives_the_shell_and_the_address(key: bytes) -> None:
    found = _of(known(**{r.KEY: key, r.OUTPUT_KEY: key}))
    assert key_bytes(_typed(found.show)[0]["key"]) == key
    assert key_bytes(_typed(found.schedule)[0]["key"]) == key
    for command in (found.get, found.put):
        path = _sent(command)[0]
        name = path.removeprefix("/due/v1/messages/")
        assert name not in (".", "..") and "/" not in name
        assert not {"", ".", ".."} & set(unquote(name).split("/"))
        assert key_bytes(unquote(name)) == key


@pytest.mark.parametrize("payload", _PAYLOADS)
def test_any_payload_is_sent_byte_for_byte(payload: bytes) -> None:
    found = _of(known(**{r.PAYLOAD: payload}))
    assert _typed(found.schedule)[1] == payload
    event = _sent(found.put)[1]
    coded = event.get("data_base64")
    assert (event["data"].encode() if coded is None else b64decode(coded)) == payload


def test_commands_say_all_that_the_message_asks_for() -> None:
    repeat = Repeat(cron="30 9 * * MON-FRI", tz="Europe/Berlin", count=10, anchor=DUE)
    policy = Policy(repeat=repeat, expireafter=60 * SECOND, retrymax=2)
    headers = [header("content-type", b"text/plain"), header("correlationid", b"-c")]
    more = {r.OCCURRENCE: 4, r.OUTPUT_KEY: b"-o", r.HEADERS: headers}
    found = _of(known(policy, **more), several=True)

    given, _ = _typed(found.schedule)
    assert (given["topic"], given["output_key"], given["source"]) == ("out", "-o", "in")
    assert (given["cron"], given["tz"], given["count"]) == (repeat.cron, repeat.tz, "6")
    assert (given["expire_after"], given["content_type"]) == ("1m", "text/plain")
    assert sorted(given["attribute"]) == ["correlationid=-c", "retrymax=2"]
    assert given["at"] == "2030-01-01T00:00:00.000000Z"
    event = _sent(found.put)[1]
    assert event["repeatcount"] == "6"
    assert (event["outputkey"], event["correlationid"], event["retrymax"]) == ("-o", "-c", "2")
    assert found.left == found.why == ""


def test_what_would_send_something_else_is_not_offered() -> None:
    hidden = _of(known(), hide_payload=True)
    long = _of(known(**{r.PAYLOAD: b"x" * 5_000}))
    none = _of(known(**{r.PAYLOAD: None}))
    assert (hidden.schedule, hidden.put) == (long.schedule, long.put) == ("", "")
    assert "hide_payload" in hidden.why
    assert "too long" in long.why
    assert none.schedule == "" and none.why
    assert _sent(none.put)[1].keys().isdisjoint(("data", "data_base64"))


def test_options_are_those_of_the_command_line() -> None:
    own = {"outputtopic", "outputkey", "datacontenttype"}
    assert {name: OPTIONS[name] for name in _OPTIONS.keys() - own} == {
        name: option for name, option in _OPTIONS.items() if name not in own
    }
