"""A Docker Compose that reads files: the one of this machine, else one fetched by its name."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.installed import installed
from pipeline.jvm import cache_folder
from pipeline.newer_libc import fetch_newer
from state.errors import SetupError

PLUGIN = Path("usr/libexec/docker/cli-plugins/docker-compose")


def compose(*words: str, **environ: str) -> str:
    """Run Docker Compose, whose ``config`` needs no engine, and return what it prints."""
    done = subprocess.run(
        [*_client(), *words],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **environ},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def _client() -> tuple[str, ...]:
    docker = shutil.which("docker")
    if (
        docker
        and subprocess.run([docker, "compose", "version"], capture_output=True).returncode == 0
    ):
        return (docker, "compose")
    try:
        return (
            str(installed(cache_folder() / "compose", "fetching docker-compose", _fetch) / PLUGIN),
        )
    except SetupError as error:
        pytest.skip(f"no Docker Compose here, and none can be fetched: {error}")


def _fetch(folder: Path) -> None:
    fetch_newer(folder, "docker-compose", ["docker-compose"])
