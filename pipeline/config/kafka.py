"""Writes the Kafka settings in the two languages their users speak: Java's and librdkafka's."""

import base64
import binascii
import os
import re
from pathlib import Path

from pydantic import SecretStr

from pipeline.config.kafka_block import KafkaSettings, SecuritySettings
from state.errors import ConfigError

# What the Python client of librdkafka takes.
ClientOptions = dict[str, str | int | float | bool]

# Spark shows the options of a source in logs and in its web pages, but for those whose names match
# its spark.redaction.regex; the default one knows nothing of a private key given as text.
REDACTION_REGEX = r"(?i)secret|password|token|access[.]?key|sasl[.]jaas|ssl[.]keystore[.]key"

# Set on a platform whose JVM is not the job's, and outlives it.
DATABRICKS = "DATABRICKS_RUNTIME_VERSION"
_LOGIN = "kafka.sasl.jaas.config"
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_PBES2 = bytes.fromhex("06092a864886f70d01050d")  # how openssl locks a key unless told otherwise
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r"})


def java_options(kafka: KafkaSettings) -> dict[str, str]:
    """Return the options of a Java client, by their names in Kafka's own documentation."""
    security = kafka.security
    options = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "security.protocol": security.protocol,
    }
    if security.mechanism is not None:
        options["sasl.mechanism"] = security.mechanism
        options["sasl.jaas.config"] = _jaas(security)
    return options | _java_trust(security) | _java_identity(security)


def spark_source_options(kafka: KafkaSettings) -> dict[str, str]:
    """Return the options of Spark's Kafka source; those the user passes through come last."""
    ours = {f"kafka.{name}": value for name, value in java_options(kafka).items()}
    if _LOGIN in ours and DATABRICKS in os.environ:
        ours[_LOGIN] = f"kafkashaded.{ours[_LOGIN]}"  # there Kafka's classes have other names
    return ours | kafka.source_options


def librdkafka_options(kafka: KafkaSettings) -> ClientOptions:
    """Return the options of any librdkafka client; those the user passes through come last."""
    security = kafka.security
    options = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "security.protocol": security.protocol,
        "sasl.mechanism": security.mechanism,
        "sasl.username": security.username,
        "sasl.password": _revealed(security.password),
        "ssl.ca.location": security.ca_file,
        "ssl.certificate.location": security.certificate_file,
        "ssl.key.location": security.key_file,
        "ssl.key.password": _revealed(security.key_password),
    }
    given = {name: value for name, value in options.items() if value is not None}
    return {**given, **kafka.client_options}


def librdkafka_producer_options(kafka: KafkaSettings) -> ClientOptions:
    """Return the options of a librdkafka producer that publishes."""
    return {**librdkafka_options(kafka), **kafka.producer_options}


def _jaas(security: SecuritySettings) -> str:
    module = _LOGIN_MODULES[security.mechanism or "PLAIN"]
    username = _quoted(security.username or "")
    password = _quoted(_revealed(security.password) or "")
    return f"{module} required username={username} password={password};"


def _quoted(text: str) -> str:
    # Kafka reads this with Java's StreamTokenizer, where a line break ends a quoted text.
    return f'"{text.translate(_ESCAPES)}"'


def _java_trust(security: SecuritySettings) -> dict[str, str]:
    if security.ca_file is None:
        return {}
    # As text, not as a path: executors need not have the file.
    certificates = _certificates("ca_file", security.ca_file)
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": certificates}


def _java_identity(security: SecuritySettings) -> dict[str, str]:
    if security.certificate_file is None or security.key_file is None:
        return {}
    options = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": _certificates(
            "certificate_file", security.certificate_file
        ),
        "ssl.keystore.key": _private_key(security.key_file),
    }
    password = _revealed(security.key_password)
    return options if password is None else options | {"ssl.key.password": password}


def _certificates(setting: str, file: str) -> str:
    found = _sections(setting, file, "CERTIFICATE")
    if found:
        return found
    raise ConfigError(f"kafka.security.{setting}: {file} holds no certificate in PEM form")


def _private_key(file: str) -> str:
    found = _sections("key_file", file, "(?:ENCRYPTED )?PRIVATE KEY")
    if found and _PBES2 in _decoded(found):
        raise ConfigError(
            f"kafka.security.key_file: {file} is encrypted by PBES2, which Kafka's client in Java "
            "cannot open; convert it with openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES"
        )
    if found:
        return found
    raise ConfigError(
        f"kafka.security.key_file: {file} holds no key in PKCS#8, the only form Java reads; "
        "convert it with openssl pkcs8 -topk8 -nocrypt, or with -topk8 -v1 PBE-SHA1-3DES to put it "
        "under a password"
    )


def _sections(setting: str, file: str, label: str) -> str:
    """Return the parts of a PEM file under ``label``, so that a key never goes as a certificate."""
    try:
        text = Path(file).read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise ConfigError(
            f"kafka.security.{setting}: {file} cannot be read: {error.strerror}"
        ) from error
    return "\n".join(re.findall(rf"-----BEGIN {label}-----[^-]+-----END {label}-----", text))


def _decoded(section: str) -> bytes:
    lines = [line for line in section.splitlines() if not line.startswith("-----")]
    try:
        return base64.b64decode("".join(lines))
    except binascii.Error:
        return b""  # whoever reads it as a key will say so


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
