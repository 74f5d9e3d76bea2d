"""A standalone Spark cluster on 127.0.0.1: a master and a worker, from PySpark's own scripts."""

import json
import os
import re
import sys
import urllib.request
from pathlib import Path
from typing import Any, Self

import pyspark

from pipeline.leashed import Leashed
from tests.acceptance.lives import wait_for

SPARK_HOME = Path(pyspark.__file__).parent
CORES = 2
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


class Cluster:
    """Starts both; they end with the block, or with this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[Leashed] = []
        self.url = ""
        self._pages: dict[str, str] = {}

    def __enter__(self) -> Self:
        try:
            started = self._start("master", MASTER)
            self.url = _found(r"Starting Spark master at (\S+)", started)
            given = ("--cores", str(CORES), "--memory", "2g", "--work-dir", str(self._folder))
            self._start("worker", WORKER, *given, self.url)
            wait_for(lambda: self.page("master")["aliveworkers"] == 1, "the worker to register")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for each in reversed(self._running):
            each.end("stop")

    def page(self, name: str) -> dict[str, Any]:
        """Return what the page of the master or the worker says, as JSON."""
        with urllib.request.urlopen(f"{self._pages[name]}/json/", timeout=30) as answer:  # noqa: S310
            return json.load(answer)

    def _start(self, name: str, kind: str, *more: str) -> str:
        log = self._folder / f"{name}.log"
        # Loopback only, and nothing of the environment this test itself runs in.
        command = [
            "env",
            "-u",
            "PYTHONPATH",
            f"SPARK_HOME={SPARK_HOME}",
            "SPARK_LOCAL_IP=127.0.0.1",
            "SPARK_DAEMON_JAVA_OPTS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        ]
        where = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        script = SPARK_HOME / "bin" / "spark-class"
        self._running.append(Leashed([*command, str(script), kind, *where, *more], log))
        page = r"Bound \w+WebUI to \S+ and started at (\S+)"
        alive = self._running[-1]
        wait_for(lambda: bool(re.search(page, _text(log))) or not alive.alive, f"the {name}")
        self._pages[name] = _found(page, _text(log)).rstrip("/")
        return _text(log)


def python_without_duestream(folder: Path) -> Path:
    """Return a Python with the packages of this one but for ours, which is there by a .pth file."""
    packages = Path(pyspark.__file__).parents[1]
    script = folder / "python"
    script.write_text(
        "#!/bin/sh\n"
        f'export PYTHONPATH="$PYTHONPATH:{packages}"\n'
        f'exec {sys.executable} -S "$@"\n'  # without site: no .pth files
    )
    script.chmod(0o755)
    return script


def submit_environment(python: Path) -> dict[str, str]:
    """Return the environment of a shell that knows nothing of this clone."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DUESTREAM_", "PYTHON"))}
    own = {
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": str(python),
    }
    return kept | own


def _text(log: Path) -> str:
    return log.read_text(errors="replace") if log.exists() else ""


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, text[-2000:]
    return found[1]
