"""The settings of the Kafka cluster: the block ``kafka`` of the configuration."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr

from state.settings import Block


def _as_texts(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: _as_text(option) for name, option in value.items()}


def _as_text(option: object) -> object:
    if isinstance(option, bool):
        return str(option).lower()
    return str(option) if isinstance(option, int | float) else option


# Options of somebody else's software: passed on untouched, as text.
Options = Annotated[dict[str, str], BeforeValidator(_as_texts)]


class SecuritySettings(Block):
    """How to log in to the cluster; certificates and keys are PEM files."""

    protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="how the brokers' listener speaks"
    )
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = Field(
        None, description="how to log in; for the two SASL protocols"
    )
    username: str | None = Field(None, description="who logs in; for the two SASL protocols")
    password: SecretStr | None = Field(
        None, description="the password of username; best given by the environment"
    )
    ca_file: str | None = Field(
        None, description="certificates of the authorities to trust; null: those of the system"
    )
    certificate_file: str | None = Field(
        None, description="this client's certificate, where the brokers ask for one"
    )
    key_file: str | None = Field(
        None, description="the private key of certificate_file, in PKCS#8; may be the same file"
    )
    key_password: SecretStr | None = Field(None, description="the password of key_file, if any")


class KafkaSettings(Block):
    """Where Kafka is and how to speak to it."""

    bootstrap_servers: str = Field(
        "localhost:9092", min_length=1, description="brokers to begin with, host:port, by comma"
    )
    security: SecuritySettings = SecuritySettings()
    source_options: Options = Field(
        default_factory=dict,
        description="passed to Spark's Kafka source; kafka.* goes on to its consumer",
    )
    producer_options: Options = Field(
        default_factory=dict, description="passed to the producers that publish (librdkafka names)"
    )
    client_options: Options = Field(
        default_factory=dict, description="passed to every other client too (librdkafka names)"
    )
