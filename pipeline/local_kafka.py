"""A real Kafka broker on this machine, for trying things out and for tests."""

import contextlib
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from pipeline.broker_files import cluster_id, free_port, write_properties
from pipeline.broker_topics import create_topics
from pipeline.jvm import broker_jars, check_java
from pipeline.local_server import LocalServer, run_until_told
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


class LocalKafka(LocalServer):
    """One KRaft node; see pipeline.local_server for how it is started and ended."""

    def __init__(
        self,
        data: Path | None = None,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__("kafka", data, port)
        self._ports: tuple[int, int] | None = None
        self._settings = dict(settings or {})

    @property
    def bootstrap_servers(self) -> str:
        """The address clients connect to; known once the broker was started."""
        if self._ports is None:
            raise SetupError("the local Kafka broker has no address before it is started")
        return f"127.0.0.1:{self._ports[0]}"

    def create_topics(
        self, names: Iterable[str], partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        """Create topics and wait until they can be used; those that exist stay as they are."""
        create_topics(self._admin(), list(names), partitions, config or {})

    def _start_somewhere(self) -> None:
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
        self._make_folder(self.data, "the broker")
        properties = write_properties(
            self.data, port, controller, self._settings_on(port, controller)
        )
        java = [str(check_java()), *_JVM, "-cp", f"{broker_jars()}/*"]
        java.append(f"-Dlog4j2.configurationFile={_LOG_CONFIGURATION.as_uri()}")
        if not (self.data / "log" / "meta.properties").exists():
            self._format(java, properties)
        self._run([*java, "kafka.Kafka", str(properties)])

    def _settings_on(self, port: int, controller: int) -> Mapping[str, str]:
        """Return what server.properties says besides the usual, for the ports it has."""
        return self._settings

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


def run_local_kafka(data: Path | None = None, port: int | None = None) -> None:
    """Run a broker until Ctrl-C or SIGTERM, and end it cleanly then."""
    kafka = LocalKafka(data, port)
    run_until_told(kafka, "the broker", lambda: kafka.bootstrap_servers)
