"""Lets a job be seen on Kafka, and refuses to start while another is seen on the same state.

The job is the one member of a consumer group named after the state. A member that dies is
forgotten after the session timeout; one that died on this machine is recognised at once.
"""

import logging
import os
import socket
import threading
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka import KafkaError as Code
from confluent_kafka.admin import AdminClient

from pipeline.quiet import Options
from state.errors import KafkaError, StateError

log = logging.getLogger(__name__)

_SESSION_TIMEOUT = 10.0  # seconds
_GONE_AFTER = _SESSION_TIMEOUT + 2  # whoever is still seen by then is alive
_CALL_TIMEOUT = 30.0
_ADVICE = (
    "allow it (Read on groups that begin with duestream.): duestream acl show prints the commands"
)
_NOT_ALLOWED = frozenset({Code.GROUP_AUTHORIZATION_FAILED, Code.TOPIC_AUTHORIZATION_FAILED})
_SOON = frozenset(
    {
        Code.NOT_COORDINATOR,
        Code.COORDINATOR_NOT_AVAILABLE,
        Code.COORDINATOR_LOAD_IN_PROGRESS,
        Code._TIMED_OUT,
    }
)


class Presence:
    """Being seen as the job of a state, from ``announce`` to ``close``."""

    def __init__(self, options: Options, state_id: str, topic: str) -> None:
        self._group = f"duestream.{state_id}.presence"
        self._topic = topic
        self._admin = AdminClient(options)
        self._consumer = Consumer(
            {
                **options,
                "group.id": self._group,
                "client.id": _myself(),
                "enable.auto.commit": False,
                "session.timeout.ms": int(_SESSION_TIMEOUT * 1000),
            }
        )
        self._heard = threading.Event()  # whether it may join, or why not
        self._refused = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._stay, name="presence", daemon=True)

    def announce(self) -> None:
        """Become the job of the state; StateError while another one is alive."""
        self._wait_until_alone()
        # Membership is all that is wanted: what the member is assigned is never read.
        self._consumer.subscribe([self._topic], on_assign=self._assigned)
        self._thread.start()
        if not self._heard.wait(_CALL_TIMEOUT) or self._refused:
            why = f": {self._refused}" if self._refused else ""
            raise KafkaError(
                f"Kafka does not let this job join the group {self._group}{why}; {_ADVICE}"
            )
        self._refuse_if(self._others())

    def close(self) -> None:
        """Leave."""
        self._closing.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._consumer.close()

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.assign(partitions)
        consumer.pause(partitions)
        self._heard.set()

    def _stay(self) -> None:
        while not self._closing.is_set():
            message = self._consumer.poll(0.5)
            error = None if message is None else message.error()
            if error is not None and error.code() in _NOT_ALLOWED and not self._heard.is_set():
                self._refused = error.str()
                self._heard.set()

    def _wait_until_alone(self) -> None:
        others = self._others()
        if others:
            log.info("%s is seen on this state; waiting a moment whether it is gone", others[0])
        give_up = time.monotonic() + _GONE_AFTER
        while others and time.monotonic() < give_up:
            time.sleep(0.5)
            others = self._others()
        self._refuse_if(others)

    def _refuse_if(self, others: list[str]) -> None:
        if others:
            raise StateError(
                f"another job runs on this state: {others[0]}; stop it first, or give this one "
                "a state and a checkpoint of its own (state.delta.path or state.mongo.database, "
                "pipeline.checkpoint)"
            )

    def _others(self) -> list[str]:
        """Return the members of the group that are not this process and may be alive."""
        return [member for member in self._members() if _may_live(member)]

    def _members(self) -> list[str]:
        give_up = time.monotonic() + _CALL_TIMEOUT
        while True:
            answer = self._admin.describe_consumer_groups([self._group])[self._group]
            try:
                return [member.client_id for member in answer.result(_CALL_TIMEOUT).members]
            except KafkaException as error:
                code = error.args[0].code()
                if code == Code.GROUP_ID_NOT_FOUND:
                    return []
                # A broker that has just started is still looking for its coordinators.
                if code not in _SOON or time.monotonic() > give_up:
                    raise KafkaError(
                        f"Kafka does not describe the group {self._group}: {error.args[0].str()}; "
                        f"{_ADVICE}"
                    ) from error
            time.sleep(0.2)


def _myself() -> str:
    return f"duestream@{socket.gethostname()}@{os.getpid()}"


def _may_live(member: str) -> bool:
    """Tell whether a member may still run; only of this machine can more be known."""
    name, _, rest = member.partition("@")
    host, _, pid = rest.rpartition("@")
    if name != "duestream" or host != socket.gethostname() or not pid.isdigit():
        return True
    if int(pid) == os.getpid():  # this process, or an earlier one in a container
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
