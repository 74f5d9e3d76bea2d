"""A server of Spark Connect on 127.0.0.1, whose Python has nothing of ours, and that can be killed.

What it runs of Python is the worker that handles batches. Where ``die`` is written, the worker (or
the server, by its hand) is ended as kill -9 does, after a batch was handled and before Spark knows.
"""

import re
import sys
from pathlib import Path
from typing import Literal, Self

import pyspark

from pipeline.jvm import spark_jars
from pipeline.leashed import Leashed
from pipeline.session import session_options
from tests.acceptance.lives import wait_for
from tests.acceptance.standalone import SPARK_HOME

_MAIN = "org.apache.spark.sql.connect.service.SparkConnectServer"
_STARTED = re.compile(r"Spark Connect server started at: \S+:(\d+)")
_WORKER = """
import os, signal, sys
from pathlib import Path
from pyspark.worker_util import get_sock_file_to_executor

order, answers = Path(sys.argv[1]), []

# Spark waits ten seconds for the first word, which may be less than all imports take.
with get_sock_file_to_executor(timeout=None) as stream:
    from pyspark.sql.connect.streaming.worker import foreach_batch_worker as worker
    plain = worker.write_int

    def answer(value, stream):
        answers.append(value)
        if len(answers) == 2 and order.exists():  # the first says that the worker is ready
            victim = os.getppid() if order.read_text() == "server" else os.getpid()
            order.unlink()
            os.kill(victim, signal.SIGKILL)
            os._exit(1)  # a worker whose server is gone looks for it for ten minutes
        plain(value, stream)

    worker.write_int = answer
    worker.main(stream, stream)
"""


class ConnectServer:
    """Starts it; it ends with the block, or with this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._order = folder / "die"
        self._log = folder / "connect.log"
        self._running: Leashed | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self._running = Leashed(self._command(), self._log)
        try:
            self.url = f"sc://127.0.0.1:{self._port(self._running)}"
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._running is not None:
            self._running.end("kill")

    def _port(self, running: Leashed) -> str:
        wait_for(
            lambda: bool(_STARTED.search(self.log())) or not running.alive,
            "the server of Spark Connect",
            told=self.log,
        )
        found = _STARTED.search(self.log())
        assert found, self.log()[-3000:]
        return found[1]

    def dies_after_the_next_batch(self, victim: Literal["worker", "server"]) -> None:
        """Have it die once, when a batch is handled and not yet reported."""
        self._order.write_text(victim)

    @property
    def has_died(self) -> bool:
        """Whether the order to die was carried out."""
        return not self._order.exists()

    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def _command(self) -> list[str]:
        options = session_options(False, {}) | {
            "spark.master": "local[2]",
            "spark.jars": ",".join(str(jar) for jar in spark_jars()),
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.python.authenticate.socketTimeout": "120s",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(self._folder / "warehouse"),
            "spark.ui.enabled": "false",
        }
        unset = ["-u", "PYTHONPATH", "-u", "SPARK_REMOTE"]
        env = ["env", *unset, "-C", str(self._folder), f"SPARK_HOME={SPARK_HOME}"]
        env += ["SPARK_LOCAL_IP=127.0.0.1", f"PYSPARK_PYTHON={self._python()}"]
        given = [word for each in options.items() for word in ("--conf", "=".join(each))]
        script = str(SPARK_HOME / "bin" / "spark-submit")
        return [*env, script, *given, "--class", _MAIN, "spark-internal"]

    def _python(self) -> Path:
        """Write a Python without site, so without ours, that runs the worker so that it may die."""
        packages = Path(pyspark.__file__).parents[1]
        worker, script = self._folder / "worker.py", self._folder / "python"
        worker.write_text(_WORKER)
        script.write_text(
            "#!/bin/sh\n"
            f'export PYTHONPATH="$PYTHONPATH:{packages}"\n'
            'case "$*" in\n'
            f"  *foreach_batch_worker*) exec {sys.executable} -S {worker} {self._order} ;;\n"
            "esac\n"
            f'exec {sys.executable} -S "$@"\n'
        )
        script.chmod(0o755)
        return script
