"""The Kafka settings in Java's words and in librdkafka's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from confluent_kafka import Producer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from py4j.java_gateway import JavaGateway, get_field

from pipeline.config.kafka import (
    java_options,
    librdkafka_options,
    librdkafka_producer_options,
    spark_source_options,
)
from pipeline.config.kafka_block import KafkaSettings, SecuritySettings
from state.errors import ConfigError
from tests.secured_kafka import PASSWORD, lock, write_identity

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"
OLD_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
AWKWARD = [
    'a"b',
    "a\\b",
    'end\\"',
    "two\nlines\r",
    "it's",
    "x=y; z",
    "// no /* comment",
    "ünï☃",
    "",
]


def with_login(password: str, mechanism: str = "PLAIN") -> KafkaSettings:
    security = {"protocol": "SASL_SSL", "mechanism": mechanism, "username": "me"}
    return KafkaSettings.model_validate({"security": security | {"password": password}})


def with_tls(**files: str) -> KafkaSettings:
    return KafkaSettings(security=SecuritySettings.model_validate({"protocol": "SSL", **files}))


@pytest.fixture(scope="module")
def jvm() -> Iterator[Any]:
    """Start a Java machine, for the tokenizer that Kafka reads logins with."""
    gateway = JavaGateway.launch_gateway(die_on_exit=True)
    yield gateway.jvm
    gateway.shutdown()
    gateway.java_process.stdin.close()
    gateway.java_process.wait(timeout=30)


def tokens(jvm: Any, text: str) -> list[str]:
    """Read ``text`` as Kafka's JaasConfig does."""
    reader = jvm.java.io.StreamTokenizer(jvm.java.io.StringReader(text))
    reader.slashSlashComments(True)
    reader.slashStarComments(True)
    for sign in "-_$":
        reader.wordChars(ord(sign), ord(sign))
    found: list[str] = []
    while (kind := reader.nextToken()) != -1:
        found.append(get_field(reader, "sval") if kind in (-3, ord('"')) else chr(kind))
    return found


@pytest.mark.parametrize("password", AWKWARD)
def test_an_awkward_password_reaches_kafka_as_it_is(jvm: Any, password: str) -> None:
    assert_login_reads_back(jvm, password)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_password_reaches_kafka_as_it_is(jvm: Any, password: str) -> None:
    assert_login_reads_back(jvm, password)


def assert_login_reads_back(jvm: Any, password: str) -> None:
    login = java_options(with_login(password))["sasl.jaas.config"]
    read = tokens(jvm, login)
    assert read[0] == "org.apache.kafka.common.security.plain.PlainLoginModule"
    assert read[1:] == ["required", "username", "=", "me", "password", "=", password, ";"]


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_has_a_login_module_of_its_own(mechanism: str) -> None:
    options = java_options(with_login("x", mechanism))
    assert options["sasl.mechanism"] == mechanism
    assert ".scram.ScramLoginModule required" in options["sasl.jaas.config"]


def test_on_databricks_spark_is_told_the_name_its_login_module_has_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABRICKS_RUNTIME_VERSION", "17.3")
    login = spark_source_options(with_login("x"))["kafka.sasl.jaas.config"]
    assert login.startswith("kafkashaded.org.apache.kafka.common.security.plain.PlainLoginModule ")
    assert spark_source_options(KafkaSettings()).keys().isdisjoint({"kafka.sasl.jaas.config"})


def test_without_security_only_the_brokers_are_named() -> None:
    expected = {"bootstrap.servers": "localhost:9092", "security.protocol": "PLAINTEXT"}
    assert java_options(KafkaSettings()) == expected
    assert librdkafka_options(KafkaSettings()) == expected


@pytest.mark.parametrize("password", AWKWARD[:-1])
def test_librdkafka_takes_the_login_as_it_is(password: str) -> None:
    options = librdkafka_options(with_login(password))
    assert (options["sasl.username"], options["sasl.password"]) == ("me", password)
    Producer(options)


def test_java_gets_certificates_as_text_so_that_executors_need_no_files(tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_text(f"a comment\n{KEY}\n{CERTIFICATE}\n{CERTIFICATE}\n")
    file = str(both)
    options = java_options(
        with_tls(ca_file=file, certificate_file=file, key_file=file, key_password="k")  # noqa: S106
    )
    assert options["ssl.truststore.certificates"] == f"{CERTIFICATE}\n{CERTIFICATE}"
    assert options["ssl.keystore.certificate.chain"] == f"{CERTIFICATE}\n{CERTIFICATE}"
    assert options["ssl.keystore.key"] == KEY
    assert options["ssl.key.password"] == "k"
    assert options["ssl.truststore.type"] == options["ssl.keystore.type"] == "PEM"


def test_a_key_java_cannot_read_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text(OLD_KEY)
    (tmp_path / "cert.pem").write_text(CERTIFICATE)
    kafka = with_tls(
        certificate_file=str(tmp_path / "cert.pem"), key_file=str(tmp_path / "key.pem")
    )
    with pytest.raises(ConfigError, match=r"kafka\.security\.key_file: .*openssl pkcs8 -topk8"):
        java_options(kafka)


@pytest.mark.parametrize("way", ["-nocrypt", "-v1 PBE-SHA1-3DES"])
def test_the_way_out_of_a_key_in_another_form_does_not_lead_into_the_next_refusal(
    tmp_path: Path, way: str
) -> None:
    file = tmp_path / "both.pem"
    identity = trustme.CA().issue_cert("me")
    identity.private_key_and_cert_chain_pem.write_to_path(file)  # not in PKCS#8
    files = {"certificate_file": str(file), "key_file": str(file)}
    with pytest.raises(ConfigError, match=f"-topk8 {way}"):
        java_options(with_tls(**files))
    lock(file, *way.split())
    assert "PRIVATE KEY" in java_options(with_tls(**files))["ssl.keystore.key"]


def test_a_key_locked_in_a_way_java_cannot_open_is_refused_with_the_way_out(tmp_path: Path) -> None:
    file = tmp_path / "both.pem"
    write_identity(trustme.CA().issue_cert("me"), file)
    files = {"certificate_file": str(file), "key_file": str(file), "key_password": PASSWORD}
    lock(file)
    with pytest.raises(ConfigError, match=r"kafka\.security\.key_file: .*-v1 PBE-SHA1-3DES"):
        java_options(with_tls(**files))
    write_identity(trustme.CA().issue_cert("me"), file)
    lock(file, "-v1", "PBE-SHA1-3DES")
    assert "ENCRYPTED" in java_options(with_tls(**files))["ssl.keystore.key"]


def test_a_missing_file_is_told_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"kafka\.security\.ca_file: .*No such file"):
        java_options(with_tls(ca_file=str(tmp_path / "none.pem")))


def test_options_passed_through_come_last_and_only_where_they_belong() -> None:
    kafka = KafkaSettings.model_validate(
        {
            "source_options": {"failOnDataLoss": False, "kafka.bootstrap.servers": "other:1"},
            "client_options": {"debug": "broker", "linger.ms": 1},
            "producer_options": {"linger.ms": 7},
        }
    )
    source = spark_source_options(kafka)
    assert source["failOnDataLoss"] == "false"
    assert source["kafka.bootstrap.servers"] == "other:1"
    assert librdkafka_options(kafka)["linger.ms"] == "1"
    assert librdkafka_producer_options(kafka)["linger.ms"] == "7"
    assert librdkafka_producer_options(kafka)["debug"] == "broker"
