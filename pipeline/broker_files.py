"""Writes the files a local Kafka broker starts from."""

import base64
import random
import socket
import uuid
from collections.abc import Mapping
from pathlib import Path

# Below the ports that systems hand out to outgoing connections: none of those can take the place
# of a broker that is down for a moment.
_PORTS = range(20_000, 32_000)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on now."""
    while True:
        port = random.choice(_PORTS)  # noqa: S311
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def cluster_id() -> str:
    """Return a new cluster id; Kafka's tools take one that begins with a dash for an option."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def write_properties(folder: Path, port: int, controller: int, more: Mapping[str, str]) -> Path:
    """Write server.properties for a single node that is broker and controller."""
    settings = {**_single_node(folder, port, controller), **more}
    path = folder / "server.properties"
    path.write_text("".join(f"{name}={_escape(value)}\n" for name, value in settings.items()))
    return path


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _single_node(folder: Path, port: int, controller: int) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        # Voters named here, and not in the formatted log, let a folder be opened on other ports.
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(folder / "log"),
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "0",
        # A killed broker is let in again only when its last session is over.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
        **_replication_of_one(),
    }


def _replication_of_one() -> dict[str, str]:
    return {
        "default.replication.factor": "1",
        "min.insync.replicas": "1",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "4",
    }


def is_taken(port: int) -> bool:
    """Tell whether something listens on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False
