"""The command that tells what to allow on a cluster with ACLs: ``acl show``."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pipeline.cli.options import ConfigOption, JsonOption, SetOption, settings_of
from state.errors import ConfigError

if TYPE_CHECKING:
    from pipeline.config.kafka_block import KafkaSettings
    from pipeline.rights import Right

app = typer.Typer(help="Rights on a cluster with ACLs.", no_args_is_help=True)

_ADMINISTRATOR = "admin.properties"  # who sets the rights logs in as somebody else than the job

Role = Literal["job", "client", "audit", "serve"]
RoleOption = Annotated[
    Role,
    typer.Option(
        "--for",
        help="The job; a client or a command that sends; audit --topics, which reads; or serve.",
    ),
]
PrincipalOption = Annotated[
    str | None,
    typer.Option("--principal", help="Such as User:duestream; else kafka.security.username."),
]


@app.command()
def show(
    role: RoleOption = "job",
    principal: PrincipalOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    assign: SetOption = None,
) -> None:
    """Print the kafka-acls commands that allow what these settings need, and nothing else."""
    from pipeline.config.checks import require_outputs
    from pipeline.rights import audit_rights, client_rights, job_rights, serve_rights

    settings = settings_of(config, assign)
    if role in ("job", "audit"):
        require_outputs(settings)
    of_role = {
        "job": job_rights,
        "client": client_rights,
        "audit": audit_rights,
        "serve": serve_rights,
    }
    rights = of_role[role](settings)
    if as_json:
        for right in rights:
            typer.echo(json.dumps(right._asdict()))
        return
    who = _whole(principal) if principal else _of_user(settings.kafka.security.username)
    for right in rights:
        typer.echo(shlex.join(_command(right, who, settings.kafka)))


def _of_user(name: str | None) -> str:
    if name is None:
        raise ConfigError(
            "--principal: name who gets the rights, such as User:duestream; "
            "kafka.security.username does not say it"
        )
    return f"User:{name}"


def _whole(principal: str) -> str:
    if not all(principal.partition(":")):
        raise ConfigError(f"--principal: {principal!r} lacks its type; write User:{principal}")
    return principal


def _command(right: Right, principal: str, kafka: KafkaSettings) -> list[str]:
    login = [] if kafka.security.protocol == "PLAINTEXT" else ["--command-config", _ADMINISTRATOR]
    pattern = ["--resource-pattern-type", "prefixed"] if right.prefixed else []
    return [
        *("kafka-acls", "--bootstrap-server", kafka.bootstrap_servers, *login),
        *("--add", "--allow-principal", principal, f"--{right.kind}", right.name, *pattern),
        *(word for operation in right.operations for word in ("--operation", operation)),
    ]
