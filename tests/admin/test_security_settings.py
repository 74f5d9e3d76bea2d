"""What is refused before anything is served, and how tokens are made."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from pipeline.admin.servable import require_servable, warnings
from pipeline.cli.main import app
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from pipeline.config.show import as_yaml
from state.errors import ConfigError
from tests.admin.house import KEY, ask, house
from tests.admin.office import TOKENS

PUBLIC = "0.0.0.0"  # noqa: S104
JWT = {"admin.jwt.issuer": "https://login.example", "admin.jwt.audience": "duestream"}


def settings(flags: Mapping[str, object]) -> Settings:
    return load_settings(flags={"state.delta.path": "s", **flags}, environ={})


@pytest.mark.parametrize(
    "host", [PUBLIC, "::", "192.168.1.5", "server.lan", "", "10.0.0.1", "localhost.example"]
)
def test_a_public_address_is_not_served_to_everybody(host: str) -> None:
    with pytest.raises(ConfigError, match=r"admin\.host: .*admin\.tokens"):
        require_servable(settings({"admin.host": host}))
    require_servable(settings({"admin.host": host, "admin.tokens": TOKENS}))
    require_servable(settings({"admin.host": host, **JWT}))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_on_loopback_nobody_need_be_asked(host: str) -> None:
    require_servable(settings({"admin.host": host}))


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"admin.session_key": "short"}, r"admin\.session_key: .*32"),
        ({"admin.tokens": [TOKENS[0], TOKENS[0] | {"name": "eve"}]}, "olga and eve have the same"),
        ({**JWT, "admin.jwt.audience": "null"}, r"admin\.jwt\.audience: .*other applications"),
        ({**JWT, "admin.jwt.issuer": "http://login.example"}, r"admin\.jwt\.issuer: .*not https"),
        ({**JWT, "admin.jwt.jwks_url": "http://a.example/k"}, r"admin\.jwt\.jwks_url: .*https"),
        ({"admin.jwt.audience": "duestream"}, r"admin\.jwt\.issuer: is not set"),
        ({"state.kind": "memory"}, r"state\.kind: is memory"),
    ],
)
def test_what_would_let_in_too_many_is_refused(flags: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as told:
        require_servable(settings(flags))
    assert "short" not in str(told.value)


@pytest.mark.parametrize(
    "flags",
    [
        {"admin.trusted_proxies": ["*"]},
        {"admin.trusted_proxies": ["proxy.lan"]},
        {"admin.base_path": "due"},
        {"admin.base_path": "/due/"},
        {"admin.base_path": "//evil.example"},
        {"admin.jwt.algorithms": ["HS256"]},
        {"admin.jwt.algorithms": ["none"]},
        {"admin.jwt.algorithms": []},
        {"admin.tokens": [{"name": "a", "sha256": "the token itself"}]},
        {"admin.tokens": [TOKENS[0] | {"role": "admin"}]},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(flags: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"^admin\."):
        settings(flags)


def test_what_deserves_a_thought_is_told() -> None:
    def told(**flags: object) -> str:
        named = {f"admin.{name}": value for name, value in flags.items()}
        return "\n".join(warnings(settings(named).admin))

    assert told() == ""
    assert "without TLS" in told(host=PUBLIC, tokens=TOKENS)
    assert "admin.hosts: is empty" in told(host=PUBLIC, tokens=TOKENS)
    assert "whoever the proxy lets through" in told(hosts=["due.example", "localhost"])
    assert told(hosts=["localhost:8700", "[::1]"]) == ""
    quiet = {"host": PUBLIC, "tokens": TOKENS, "hosts": ["a"], "trusted_proxies": ["10.0.0.1"]}
    assert told(**quiet) == ""


def test_serve_tells_what_it_refuses_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("admin: {host: 0.0.0.0}\nstate: {delta: {path: s}}\n")
    told = CliRunner().invoke(app, ["serve", "--config", str(file)])
    assert told.exit_code != 0
    assert "admin.host: 0.0.0.0 can be reached from other machines" in str(told.exception)


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_a_token_is_made_with_the_lines_that_let_it_in(tmp_path: Path, role: str) -> None:
    made = CliRunner().invoke(app, ["token", "ada", "--role", role])
    assert made.exit_code == 0
    [line] = yaml.safe_load(made.stdout)
    found = re.search(r"token, shown this once: (\S{43})\n", made.stderr)
    assert found is not None
    token = found.group(1)
    assert line == {
        "name": "ada",
        "role": role,
        "sha256": hashlib.sha256(token.encode()).hexdigest(),
    }
    assert token not in made.stdout
    with house(tmp_path, tokens=[line]) as url, ask(url, token) as asking:
        assert asking.get("/probe/api").json() == {"name": "ada", "role": role}


def test_two_tokens_are_never_the_same_and_a_role_is_a_viewers_unless_said() -> None:
    first, second = (CliRunner().invoke(app, ["token", "ada"]) for _ in range(2))
    assert first.stdout != second.stdout
    assert "role: viewer" in first.stdout


def test_no_secret_of_the_web_process_is_shown() -> None:

    assert KEY not in as_yaml(settings({"admin.session_key": KEY}))
    assert KEY not in repr(settings({"admin.session_key": KEY}))
