"""Settings that name a secret: read with the SDK of Databricks, from a workspace or not at all."""

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from pipeline.installed import installed
from pipeline.jvm import cache_folder
from pipeline.node import install_python_package

SDK = "databricks-sdk==0.120.0"
SECRETS = {("duestream", "kafka-username"): "ada", ("duestream", "kafka-password"): "s3cret"}
ASKED: list[str] = []  # the paths that the workspace was asked for
LOGIN = (
    "--set=kafka.security.protocol=SASL_SSL",
    "--set=kafka.security.mechanism=PLAIN",
    "--set=kafka.security.username=secret://duestream/kafka-username",
)


class Workspace(BaseHTTPRequestHandler):
    """Answers as the secrets API of a workspace does."""

    def do_GET(self) -> None:
        """Return a secret in base64, or say that it is not there."""
        asked = urlsplit(self.path)
        ASKED.append(asked.path)
        named = {name: values[0] for name, values in parse_qs(asked.query).items()}
        found = SECRETS.get((named.get("scope", ""), named.get("key", "")))
        known = asked.path == "/api/2.0/secrets/get" and found is not None
        if known and self.headers["Authorization"] == "Bearer token":
            self._answer(200, {"value": base64.b64encode(str(found).encode()).decode()})
        else:
            self._answer(404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "No such."})

    def _answer(self, code: int, said: dict[str, str]) -> None:
        body = json.dumps(said).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_said: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def workspace() -> Iterator[dict[str, str]]:
    """Serve a workspace; return the environment in which the SDK finds it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Workspace) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        host = f"http://127.0.0.1:{server.server_port}"
        yield {"DATABRICKS_HOST": host, "DATABRICKS_TOKEN": "token", "PYTHONPATH": _path(_sdk())}
        server.shutdown()
        thread.join()


def _sdk() -> Path:
    folder = cache_folder() / "databricks" / SDK
    return installed(
        folder, "installing the Databricks SDK", lambda to: install_python_package(SDK, to)
    )


def _path(*folders: Path) -> str:
    ours = Path(__file__).parents[2]
    return os.pathsep.join(map(str, (*folders, ours)))


def shown(environ: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    kept = {
        name: said
        for name, said in os.environ.items()
        if not name.startswith(("DUESTREAM_", "DATABRICKS_"))
    }
    return subprocess.run(
        [sys.executable, "-m", "pipeline.cli.main", "config", "show", *LOGIN, *words],
        env=kept | environ,
        capture_output=True,
        text=True,
    )


def test_a_secret_is_read_by_its_name_and_shown_to_nobody(workspace: dict[str, str]) -> None:
    password = {"DUESTREAM_KAFKA__SECURITY__PASSWORD": "secret://duestream/kafka-password"}
    said = shown(workspace | password)
    assert said.returncode == 0, said.stderr
    assert "username: ada" in said.stdout
    assert "password: '****'" in said.stdout
    assert "s3cret" not in said.stdout + said.stderr


def test_a_secret_in_a_file_is_read_too(workspace: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "duestream.yaml"
    file.write_text("kafka: {security: {password: 'secret://duestream/kafka-password'}}")
    said = shown(workspace, "--config", str(file))
    assert said.returncode == 0, said.stderr


def test_a_secret_inside_the_json_of_a_variable_is_read_too(workspace: dict[str, str]) -> None:
    login = '{"password": "secret://duestream/kafka-password"}'
    said = shown(workspace | {"DUESTREAM_KAFKA__SECURITY": login})
    assert said.returncode == 0, said.stderr
    other = shown(workspace | {"DUESTREAM_KAFKA__SECURITY": login.replace("kafka-", "no-")})
    assert "kafka.security.password: secret://duestream/no-password cannot be" in other.stderr


def test_all_secrets_are_read_with_one_login(workspace: dict[str, str]) -> None:
    ASKED.clear()
    said = shown(workspace, "--set=kafka.security.password=secret://duestream/kafka-password")
    assert said.returncode == 0, said.stderr
    assert ASKED.count("/api/2.0/secrets/get") == 2
    assert ASKED.count("/.well-known/databricks-config") == 1  # asked for by each new client


def test_a_secret_in_the_file_is_not_asked_for_where_a_flag_wins(
    workspace: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "duestream.yaml"
    file.write_text("kafka: {security: {password: 'secret://duestream/other'}}")
    said = shown(workspace, "--config", str(file), "--set=kafka.security.password=own")
    assert said.returncode == 0, said.stderr


def test_a_secret_that_is_not_there_is_named_with_its_setting(workspace: dict[str, str]) -> None:
    said = shown(workspace, "--set=kafka.security.password=secret://duestream/other")
    assert said.returncode == 2
    assert "kafka.security.password: secret://duestream/other cannot be read" in said.stderr
    assert "Traceback" not in said.stderr


def test_without_the_sdk_it_is_told_what_to_install() -> None:
    said = shown({"PYTHONPATH": _path()})
    assert said.returncode == 2
    assert "kafka.security.username: secret://duestream/kafka-username is read" in said.stderr
    assert "pip install databricks-sdk" in said.stderr
