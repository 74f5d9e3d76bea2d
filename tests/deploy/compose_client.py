"""A Docker Compose that reads files: the one of this machine, else one fetched by its name."""

import functools
import os
import shutil
import subprocess

from tests.fetched import fetched

PLUGIN = "usr/libexec/docker/cli-plugins/docker-compose"


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
    return (fetched("docker-compose", PLUGIN),)
