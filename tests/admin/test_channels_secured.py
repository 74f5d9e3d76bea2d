"""Channels on a broker with TLS, passwords and ACLs: the rights that are printed are enough."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from confluent_kafka.admin import AclBinding, AclOperation

from pipeline.admin.others import others
from state.errors import KafkaError
from tests.admin.channel_office import events_of, lock, posted, served
from tests.admin.test_channels_jobs import define, jobs_of
from tests.integration.secured import User, job_user
from tests.secured_kafka import SecuredKafka


@pytest.fixture(scope="module")
def kafka() -> Iterator[SecuredKafka]:
    with SecuredKafka() as served:
        yield served


@pytest.fixture
def user(kafka: SecuredKafka, tmp_path: Path) -> User:
    one = job_user(kafka, tmp_path)
    channels = {"admin.channels.port": "0", "admin.channels.topic": f"channels-of-{one.name}"}
    allow = {"outputs.allow": channels["admin.channels.topic"], "schedules.endless_repeats": "true"}
    one.flags.update(channels | allow)
    return one


def test_the_rights_that_are_printed_for_it_are_enough(user: User) -> None:
    user.allow("serve")
    for _ in range(2):  # the second time its topics are there
        with served(user.settings) as url, httpx.Client(base_url=url, timeout=60) as client:
            event = posted(client, "c")["eventID"]
            assert lock(client, "c", event) == 202
            assert event in [each["eventID"] for each in events_of(client, "c")]
            assert define(client, "c").status_code == 201
            assert len(jobs_of(client, "c")) == 1
            assert client.delete("/c/jobs/job").status_code == 202


def test_a_right_to_create_its_topics_that_is_missing_is_told(user: User) -> None:
    def creates(one: AclBinding) -> bool:
        return bool(one.operation == AclOperation.CREATE)

    user.allow("serve", but=creates)
    with pytest.raises(KafkaError, match=r"cannot create the topic channels-of-.*acl show"):
        others(user.settings)
