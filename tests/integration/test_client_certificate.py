"""A broker that lets in who has a certificate: the job and its clients have one, or are told."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import trustme
from pyspark.sql import SparkSession

from pipeline.client import Client
from pipeline.topics import prepare_topics
from state.errors import ConfigError, KafkaError
from tests.integration.running import run_once
from tests.integration.secured import Flags, User, certified_user
from tests.reading import read_committed
from tests.secured_kafka import SecuredKafka, write_identity

NONE: Flags = {f"kafka.security.{name}": None for name in ("certificate_file", "key_file")} | {
    "kafka.security.key_password": None
}


@pytest.fixture(scope="module")
def kafka() -> Iterator[SecuredKafka]:
    with SecuredKafka() as served:
        yield served


@pytest.fixture
def user(kafka: SecuredKafka, tmp_path: Path) -> User:
    return certified_user(kafka, tmp_path)


def of_a_stranger(folder: Path, name: str) -> Flags:
    """A certificate with the right name, by an authority that the broker does not know."""
    file = folder / "stranger.pem"
    write_identity(trustme.CA().issue_cert("stranger", common_name=name), file)
    files = {f"kafka.security.{setting}": str(file) for setting in ("certificate_file", "key_file")}
    return files | {"kafka.security.key_password": None}


def test_a_job_with_a_certificate_reads_and_publishes(
    spark: SparkSession, user: User, kafka: SecuredKafka
) -> None:
    user.allow()
    user.allow("client")
    out = user.settings.outputs.allow[0]
    with Client(user.settings) as client:
        client.schedule("hello", topic=out, key="a", delay="0s")
    prepare_topics(user.settings)
    run_once(spark, user.settings)
    assert [m.value() for m in read_committed(kafka.bootstrap_servers, out)] == [b"hello"]


@pytest.mark.parametrize("whose", ["none", "a stranger's"])
def test_without_a_certificate_of_the_authority_nobody_gets_in(
    user: User, tmp_path: Path, whose: str
) -> None:
    user.allow()
    flags = NONE if whose == "none" else of_a_stranger(tmp_path, user.name)
    settings = user.with_flags(**flags)
    sentence = r"^kafka\.security: the brokers at .* certificate.*certificate_file and key_file"
    with pytest.raises(KafkaError, match=sentence):
        prepare_topics(settings)
    client = Client(settings, timeout=timedelta(seconds=3))
    with pytest.raises(KafkaError, match=sentence):
        client.cancel("key")


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"key_password": "wrong"}, "key_file: .*key_password opens it"),
        ({"key_password": None}, "key_file: .*key_password opens it"),
        ({"certificate_file": os.devnull}, "certificate_file: see that it is a PEM file"),
        ({"ca_file": os.devnull}, "ca_file: see that it is a PEM file"),
    ],
    ids=["wrong password", "no password", "no certificate", "no authority"],
)
def test_a_file_that_cannot_be_used_is_told_by_its_setting(
    user: User, flags: Flags, sentence: str
) -> None:
    settings = user.with_flags(**{f"kafka.security.{name}": flags[name] for name in flags})
    with pytest.raises(ConfigError, match=rf"^kafka\.security\.{sentence}"):
        prepare_topics(settings)
