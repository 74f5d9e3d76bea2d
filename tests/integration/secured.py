"""A user of the secured broker, with settings and topics of its own."""

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import AclBinding
from typer.testing import CliRunner

from pipeline.cli.main import app
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from tests.acl_lines import bindings
from tests.secured_kafka import PASSWORD, SecuredKafka

_NUMBERS = itertools.count(1)

Flags = dict[str, object]


@dataclass(frozen=True)
class User:
    """Somebody who comes through the door with TLS; what they may do is given by ``allow``."""

    kafka: SecuredKafka
    name: str
    flags: Flags

    @property
    def settings(self) -> Settings:
        return self.with_flags()

    def with_flags(self, **more: object) -> Settings:
        """Return the settings with others in place; None takes one away."""
        flags = {name: value for name, value in (self.flags | more).items() if value is not None}
        return load_settings(flags=flags, environ={})

    @property
    def principal(self) -> str:
        return f"User:{self.name}"

    @property
    def words(self) -> list[str]:
        """The settings as flags of a command."""
        return [w for name, value in self.flags.items() for w in ("--set", f"{name}={value}")]

    def rights(self, role: str = "job") -> list[AclBinding]:
        """What ``duestream acl show`` prints for these settings."""
        command = ["acl", "show", "--for", role, "--config", os.devnull, *self.words]
        if "kafka.security.username" not in self.flags:
            command += ["--principal", self.principal]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        return bindings(done.stdout)

    def allow(
        self, role: str = "job", but: Callable[[AclBinding], bool] = lambda _: False
    ) -> list[AclBinding]:
        """Grant exactly what is printed, but for what is left out; return what was left out."""
        printed = self.rights(role)
        self.kafka.grant([one for one in printed if not but(one)])
        return [one for one in printed if but(one)]


def job_user(kafka: SecuredKafka, folder: Path) -> User:
    """A job with a password and topics of its own, which are there; it may do nothing yet."""
    number = next(_NUMBERS)
    name = f"job-{number}"
    kafka.add_user(name)
    return User(kafka, name, _job(kafka, number, folder) | _login(kafka, name))


def certified_user(kafka: SecuredKafka, folder: Path) -> User:
    """The same with a certificate instead of a password."""
    number = next(_NUMBERS)
    name = f"job-{number}"
    kafka.certify(name, folder / "job.pem")
    login = _certificate(kafka, folder / "job.pem")
    return User(kafka, name, _job(kafka, number, folder) | login)


def other_user(job: User, role: str) -> User:
    """Somebody else with the settings of a job, and the rights of ``role``."""
    user = User(
        job.kafka, f"{role}-of-{job.name}", job.flags | _login(job.kafka, f"{role}-of-{job.name}")
    )
    job.kafka.add_user(user.name)
    user.allow(role)
    return user


def _job(kafka: SecuredKafka, number: int, folder: Path) -> Flags:
    kafka.create_topics([f"in-{number}", f"out-{number}", f"closed-{number}"])
    return {
        "name": f"job-{number}",
        "sources": f'[{{"topic": "in-{number}"}}]',
        "outputs.allow": f"out-{number},closed-{number}",
        "dead_letter.topic": f"dead-{number}",
        "pipeline.checkpoint": str(folder / "checkpoint"),
        "pipeline.trigger_interval": "200ms",
        "state.delta.path": str(folder / "state"),
    }


def _certificate(kafka: SecuredKafka, file: Path) -> Flags:
    return {
        "kafka.bootstrap_servers": kafka.certified_servers,
        "kafka.security.protocol": "SSL",
        "kafka.security.ca_file": str(kafka.ca_file),
        "kafka.security.certificate_file": str(file),
        "kafka.security.key_file": str(file),
        "kafka.security.key_password": PASSWORD,
    }


def _login(kafka: SecuredKafka, name: str) -> Flags:
    return {
        "kafka.bootstrap_servers": kafka.secure_servers,
        "kafka.security.protocol": "SASL_SSL",
        "kafka.security.mechanism": "SCRAM-SHA-512",
        "kafka.security.username": name,
        "kafka.security.password": PASSWORD,
        "kafka.security.ca_file": str(kafka.ca_file),
    }
