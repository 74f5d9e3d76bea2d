"""The archive of Spark's classes is taken where it is, and left out where it is not."""

import os
from pathlib import Path

import pytest

from pipeline import classes
from pipeline.keep_classes import forget_others
from pipeline.session import session_options


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(classes, "archive", lambda: tmp_path / "spark.jsa")
    return tmp_path / "spark.jsa"


def java_options(local: bool) -> str:
    return session_options(local, {"spark.jars": ""})["spark.driver.extraJavaOptions"]


def test_a_local_session_takes_the_archive_that_is_there(kept: Path) -> None:
    assert "SharedArchiveFile" not in java_options(local=True)
    kept.touch()
    assert f"-XX:SharedArchiveFile={kept}" in java_options(local=True)


def test_a_session_elsewhere_is_left_alone(kept: Path) -> None:
    kept.touch()
    assert "SharedArchiveFile" not in java_options(local=False)


def test_another_cache_has_another_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUESTREAM_CACHE", str(tmp_path))
    assert classes.archive().parent == tmp_path / "classes"


def test_only_the_newest_archives_are_kept(tmp_path: Path) -> None:
    made = [tmp_path / f"{n}.jsa" for n in range(5)]
    for age, path in enumerate(made):
        path.touch()
        os.utime(path, (age, age))
    forget_others(made[-1])
    assert sorted(tmp_path.iterdir()) == made[-3:]
