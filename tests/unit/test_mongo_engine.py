"""A tool is installed whole or not at all, and what is missing is told with the way out."""

from pathlib import Path

import pytest

from pipeline.installed import installed
from pipeline.mongo_engine import prepare_mongo
from state.errors import SetupError

INSTEAD = r"or use a MongoDB of your own \(docker run .*\) and set state\.mongo\.uri to it"


def write(work: Path) -> None:
    (work / "tool").write_text("first")


def test_a_tool_is_installed_once(tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "1.0"
    installed(folder, "installing", write)

    def again(work: Path) -> None:
        raise AssertionError("it was there already")

    assert (installed(folder, "installing", again) / "tool").read_text() == "first"


def test_an_installation_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(work: Path) -> None:
        write(work)
        raise SetupError("no")

    with pytest.raises(SetupError):
        installed(tmp_path / "1.0", "installing", fail)
    assert not list(tmp_path.iterdir())


def test_of_two_that_install_at_the_same_time_the_first_one_s_stays(tmp_path: Path) -> None:
    folder = tmp_path / "1.0"

    def overtaken(work: Path) -> None:
        installed(folder, "installing", write)
        (work / "tool").write_text("second")

    assert (installed(folder, "installing", overtaken) / "tool").read_text() == "first"
    assert list(tmp_path.iterdir()) == [folder]


def test_a_cache_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.write_text("a file")
    monkeypatch.setenv("DUESTREAM_CACHE", str(cache))
    with pytest.raises(SetupError, match="set DUESTREAM_CACHE to a folder that can"):
        prepare_mongo()


def test_an_engine_is_never_installed_without_its_licence_being_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DUESTREAM_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(SetupError, match=rf"Node\.js 20 or newer with npm is not here.*{INSTEAD}"):
        prepare_mongo()
    assert "SSPL-1.0" in capsys.readouterr().err
    assert not list((tmp_path / "mongo").iterdir())


def test_a_registry_that_cannot_be_reached_is_told_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUESTREAM_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(
        SetupError, match=rf"SecantusDB==\S+ could not be installed with pip.*{INSTEAD}"
    ):
        prepare_mongo("secantus")


def test_an_engine_nobody_knows_is_refused() -> None:
    with pytest.raises(SetupError, match="choose one of embedded, secantus"):
        prepare_mongo("mongod")  # type: ignore[arg-type]
