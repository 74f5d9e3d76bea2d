"""Opens a client for administration, and says in a sentence why a cluster does not let it in."""

import re
import socket
import time
from typing import Any

from confluent_kafka import KafkaError as Code
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from pipeline.config.kafka import librdkafka_options
from pipeline.config.kafka_block import KafkaSettings
from pipeline.quiet import quiet
from state.errors import ConfigError, KafkaError

_FIRST_TRY = 1.0  # seconds
_TURNED_AWAY = frozenset({Code._AUTHENTICATION, Code.SASL_AUTHENTICATION_FAILED, Code._SSL})
# With TLS 1.3 a broker looks at the client's certificate after the client's end of the handshake,
# so its no comes as a broken connection: these alerts are about the certificate, or its absence.
# The client's own no to the broker's certificate may be told as a broken connection, too.
_CERTIFICATE = re.compile(r"SSL alert number (4[2-689]|116)\b|certificate verify failed")
_CONNECTED_WITHIN = 2.0
_FILES = {
    "ssl.ca.location": "ca_file",
    "ssl.certificate.location": "certificate_file",
    "ssl.key.location": "key_file",
}

Topics = dict[str, Any]  # what the cluster tells of each topic, by name


def connect(kafka: KafkaSettings, timeout: float) -> tuple[AdminClient, Topics]:
    """Return a client, and the topics that its user may see."""
    heard: list[Code] = []
    admin = _admin(kafka, heard)
    give_up, patience = time.monotonic() + timeout, _FIRST_TRY
    while True:
        try:
            return admin, admin.list_topics(timeout=patience).topics
        except KafkaException as error:
            admin.poll(0)  # lets the client tell what it heard
            cause = turned_away(heard)
            if cause is not None:
                raise KafkaError(not_let_in(kafka.bootstrap_servers, cause.str())) from error
            if time.monotonic() > give_up:
                raise KafkaError(_no_answer(kafka, error.args[0])) from error
        patience = min(2 * patience, max(give_up - time.monotonic(), _FIRST_TRY))


def turned_away(heard: list[Code]) -> Code | None:
    """Return what says that the brokers are there and the login is wrong, if anything does."""
    return next((error for error in heard if _is_no(error)), None)


def _is_no(error: Code) -> bool:
    return error.code() in _TURNED_AWAY or _CERTIFICATE.search(error.str()) is not None


def not_let_in(servers: str, cause: str) -> str:
    """Say that the brokers do not let this client in, and which settings decide it."""
    return (
        f"kafka.security: the brokers at {servers} (kafka.bootstrap_servers) do not let this "
        f"client in: {cause}; check protocol, mechanism, username, password, ca_file, "
        "certificate_file and key_file there"
    )


def _admin(kafka: KafkaSettings, heard: list[Code]) -> AdminClient:
    options: dict[str, Any] = {**quiet(librdkafka_options(kafka)), "error_cb": heard.append}
    try:
        return AdminClient(options)
    except KafkaException as error:
        raise ConfigError(_not_made(error.args[0].str())) from error


def _not_made(said: str) -> str:
    """Say why there is no client, by the setting of the file that librdkafka could not use."""
    setting = next((_FILES[option] for option in _FILES if f"{option} failed" in said), None)
    if setting is None:
        return f"kafka: {said}"
    lock = " and kafka.security.key_password opens it" if setting == "key_file" else ""
    return f"kafka.security.{setting}: see that it is a PEM file{lock}: {said}"


def _no_answer(kafka: KafkaSettings, error: Code) -> str:
    servers, protocol = kafka.bootstrap_servers, kafka.security.protocol
    if any(_listens(server.strip()) for server in servers.split(",")):
        return not_let_in(servers, f"nobody there answers in {protocol} (kafka.security.protocol)")
    return (
        f"no Kafka broker answers at {servers} (kafka.bootstrap_servers): {error.str()}; "
        "start one, for a try-out with: duestream kafka"
    )


def _listens(server: str) -> bool:
    """Tell whether anything can be connected to, whatever it speaks."""
    host, _, port = server.removeprefix("PLAINTEXT://").rpartition(":")
    if not port.isdigit():
        return False
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECTED_WITHIN).close()
    except OSError:
        return False
    return True
