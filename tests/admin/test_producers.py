"""Producers in other languages: what they send goes out, and its keys land where all others do."""

import os
import shutil
import subprocess
from uuid import uuid4

import pytest

from tests.admin.office import OPERATOR, Office
from tests.conftest import Read
from tests.integration.running import in_seconds, wait_for
from tests.pages import ROOT, blocks
from tests.producers import FOLDER, PRODUCERS

PAGE = ROOT / "docs/producers.md"
CURL = FOLDER / "curl/schedule.sh"
on_one_store = pytest.mark.parametrize("office", ["delta"], indirect=True)


def out(read: Read, office: Office) -> dict[bytes, bytes]:
    return {message.key(): message.value() for message in read(office.place.out)}


@on_one_store
@pytest.mark.parametrize("language", PRODUCERS)
def test_what_it_schedules_goes_out_and_what_it_withdraws_does_not(
    office: Office, read: Read, language: str
) -> None:
    run, settings = PRODUCERS[language](), office.place.settings
    environ = {"DUESTREAM_TOPIC": office.place.input}
    servers = settings.kafka.bootstrap_servers
    keys = [f"{language}-{n}-{uuid4().hex}" for n in range(3)]
    kept, text = f"{language}-withdrawn-{uuid4().hex}", f"from {language}: ü 你好"

    for key in keys:
        with office.place.client() as client:
            first = client.schedule(b"", topic=office.place.out, key=key, at=in_seconds(3600))
        version = run([servers, key, office.place.out, "1s", text], environ).strip()
        assert version.partition("-")[0] == str(first.partition)  # so the order of both is known
    run([servers, kept, office.place.out, "1h", text], environ)
    wait_for(lambda: office.place.statuses_of(kept) == ["pending"], "the job to take it")
    run([servers, kept], environ)

    wait_for(lambda: out(read, office).keys() >= {k.encode() for k in keys}, "all to go out")
    assert {out(read, office)[key.encode()] for key in keys} == {text.encode()}
    wait_for(lambda: office.place.statuses_of(kept) == ["cancelled"], "it to be withdrawn")


@on_one_store
def test_curl_schedules_and_withdraws_by_the_http_api(office: Office, read: Read) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not on this machine")
    key, kept, text = f"curl-{uuid4().hex}", f"curl-{uuid4().hex}", 'from curl: {"ü": "你好"}\n'

    curl(office, key, office.place.out, "1s", text)
    curl(office, kept, office.place.out, "1h", text)
    wait_for(lambda: office.place.statuses_of(kept) == ["pending"], "the job to take it")
    curl(office, kept)

    wait_for(lambda: key.encode() in out(read, office), "it to go out")
    assert out(read, office)[key.encode()] == text.encode()
    wait_for(lambda: office.place.statuses_of(kept) == ["cancelled"], "it to be withdrawn")


def curl(office: Office, *arguments: str) -> None:
    environ = {**os.environ, "DUESTREAM_URL": office.url, "DUESTREAM_TOKEN": OPERATOR}
    done = subprocess.run([CURL, *arguments], env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_shows_the_programs_as_they_are() -> None:
    shown = {block.title: block.text for block in blocks(PAGE) if block.title}
    programs = ("java/Schedule.java", "go/main.go", "js/schedule.js", "curl/schedule.sh")
    files = {f"examples/producers/{name}": (FOLDER / name).read_text() for name in programs}
    assert {title: shown.get(title) for title in files} == files
