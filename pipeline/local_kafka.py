"""A real Kafka broker on this machine, for trying things out and for tests."""

import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from pipeline.broker_files import cluster_id, free_port, is_taken, write_properties
from pipeline.broker_topics import create_topics
from pipeline.jvm import broker_jars, check_java
from pipeline.leashed import Leashed
from state.errors import SetupError

SERVING_WITHIN = 90.0
_TRIES = 5
_LOG_CONFIGURATION = Path(__file__).resolve().parent / "broker-log.properties"
_JVM = (
    "-Xms256m",
    "-Xmx768m",
    "-XX:+UseSerialGC",
    "-XX:+PerfDisableSharedMem",
    "-XX:TieredStopAtLevel=1",  # it lives for minutes: compiling for hours would cost it those
)


class LocalKafka:
    """One KRaft node on 127.0.0.1; it never outlives this process, not even through kill -9.

    Without ``data`` its folder is temporary and gone after ``close``. The same object may be
    started again after ``stop`` or ``kill``: same data, same port.
    """

    def __init__(
        self,
        data: Path | None = None,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._temporary = data is None
        self.data = data.absolute() if data else Path(tempfile.mkdtemp(prefix="duestream-kafka-"))
        self.log_file = self.data / "broker.log"
        self._wanted_port = port
        self._ports: tuple[int, int] | None = None
        self._settings = dict(settings or {})
        self._process: Leashed | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The address clients connect to; known once the broker was started."""
        if self._ports is None:
            raise SetupError("the local Kafka broker has no address before it is started")
        return f"127.0.0.1:{self._ports[0]}"

    @property
    def pid(self) -> int | None:
        """The process id of the broker, None when it does not run."""
        return self._process.pid if self._process and self._process.alive else None

    def start(self) -> Self:
        """Start the broker and return when it serves; if a free port was taken, try another."""
        if self.pid is None:
            try:
                self._start_somewhere()
            except BaseException:
                self._end("kill")
                raise
        return self

    def stop(self) -> None:
        """End the broker cleanly; its data stays."""
        self._end("stop")

    def kill(self) -> None:
        """End the broker as a crash does (SIGKILL); its data stays."""
        self._end("kill")

    def close(self) -> None:
        """End the broker and remove its folder, if that is a temporary one."""
        self._end("kill" if self._temporary else "stop")
        if self._temporary:
            shutil.rmtree(self.data, ignore_errors=True)

    def wait(self) -> None:
        """Wait until the broker ends by itself."""
        if self._process is not None:
            self._process.wait()

    def create_topics(
        self, names: Iterable[str], partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        """Create topics and wait until they can be used; those that exist stay as they are."""
        create_topics(self._admin(), list(names), partitions, config or {})

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start_somewhere(self) -> None:
        if self._wanted_port is not None and is_taken(self._wanted_port):
            raise SetupError(
                f"port {self._wanted_port} on 127.0.0.1 is in use; stop what listens there, or "
                "choose another port (--port)"
            )
        movable = self._ports is None and self._wanted_port is None
        for _ in range(_TRIES):
            if movable or self._ports is None:
                self._ports = (self._wanted_port or free_port(), free_port())
            self._launch(*self._ports)
            if self._serves():
                return
            tail = self._last_lines()
            if not (movable and "in use" in self.log_file.read_text(errors="replace")):
                break
        raise SetupError(f"the local Kafka broker did not start; its log ends with:\n{tail}")

    def _launch(self, port: int, controller: int) -> None:
        try:
            self.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"{self.data} cannot be made a folder for the broker: {error.strerror}; "
                "choose another (--data)"
            ) from error
        properties = write_properties(self.data, port, controller, self._settings)
        java = [str(check_java()), *_JVM, "-cp", f"{broker_jars()}/*"]
        java.append(f"-Dlog4j2.configurationFile={_LOG_CONFIGURATION.as_uri()}")
        if not (self.data / "log" / "meta.properties").exists():
            self._format(java, properties)
        folder = self.data if self._temporary else None
        self._process = Leashed([*java, "kafka.Kafka", str(properties)], self.log_file, folder)

    def _format(self, java: list[str], properties: Path) -> None:
        command = [*java, "kafka.tools.StorageTool", "format", "-t", cluster_id()]
        with self.log_file.open("ab") as log:
            done = subprocess.run([*command, "-c", properties], stdout=log, stderr=log)  # noqa: S603
        if done.returncode != 0:
            tail = self._last_lines()
            raise SetupError(f"{self.data} cannot hold a Kafka log; its log ends with:\n{tail}")

    def _serves(self) -> bool:
        deadline = time.monotonic() + SERVING_WITHIN
        admin = self._admin()
        while self.pid is not None and time.monotonic() < deadline:
            with contextlib.suppress(KafkaException):
                if admin.list_topics(timeout=0.5).brokers:
                    return True
        self._end("kill")
        return False

    def _admin(self) -> AdminClient:
        options: dict[str, Any] = {
            "bootstrap.servers": self.bootstrap_servers,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 100,
            "log_level": 0,
            "error_cb": lambda error: None,
        }
        return AdminClient(options)

    def _last_lines(self, count: int = 15) -> str:
        if not self.log_file.exists():
            return "(there is no log yet)"
        return "\n".join(self.log_file.read_text(errors="replace").splitlines()[-count:])

    def _end(self, order: Literal["stop", "kill"]) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(order)


def run_local_kafka(data: Path | None = None, port: int | None = None) -> None:
    """Run a broker until Ctrl-C or SIGTERM, and end it cleanly then."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with LocalKafka(data, port) as kafka:
            sys.stdout.write(f"{kafka.bootstrap_servers}\n")
            sys.stdout.flush()
            kafka.wait()
            raise SetupError(f"the broker ended by itself; see {kafka.log_file}")
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)
