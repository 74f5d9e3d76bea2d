"""Reads what a setting names instead of holding: ``secret://SCOPE/KEY``, a secret of Databricks.

Where compute is serverless nobody puts secrets into the environment of a job, and its parameters
are there for all to read. So they hold the name, and the job asks for the value.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Any

from pipeline.config.problems import Problem

_BEGINS_AS_ONE = re.compile(r"\s*secret://", re.IGNORECASE)
_REFERENCE = re.compile(r"secret://(?P<scope>[^/\s]+)/(?P<key>[^/\s]+)")


class SecretUnread(Exception):
    """A secret cannot be had; the message says why, and the way out."""


class Workspace:
    """The workspace that this process runs in, or that the SDK's variables name."""

    def secret(self, scope: str, key: str) -> str:
        """Ask for a secret, or raise SecretUnread; all are asked for with one login."""
        if isinstance(self._secrets, SecretUnread):
            raise self._secrets
        try:
            return str(self._secrets.get(scope, key))
        except Exception as error:  # of the SDK, of the network
            raise _refused(error) from error

    @cached_property
    def _secrets(self) -> Any:
        """What secrets are had from; or why there are none, since to try again would not help."""
        try:
            return import_module("databricks.sdk").WorkspaceClient().dbutils.secrets
        except ImportError:
            return SecretUnread(
                "is read with the Databricks SDK, which is not installed here; pip install "
                "databricks-sdk, or give the value itself by an environment variable"
            )
        except Exception as error:  # of its login
            return _refused(error)


def revealed(settings: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return settings, a tree, with secrets in place of their names, and what is wrong."""
    problems: list[Problem] = []
    workspace = Workspace()

    def reveal(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {name: reveal(each, at) for name, each, at in _named(value, path)}
        if isinstance(value, list):
            return [reveal(each, f"{path}[{n}]") for n, each in enumerate(value)]
        try:
            return _value(value, workspace)
        except SecretUnread as error:
            problems.append(Problem(path, str(error)))
            return value

    return reveal(settings, ""), problems


def _value(value: Any, workspace: Workspace) -> Any:
    if not isinstance(value, str) or not _BEGINS_AS_ONE.match(value):
        return value
    found = _REFERENCE.fullmatch(value)
    if found is None:  # not repeated: it may be a password
        raise SecretUnread(
            "begins as the name of a secret and is none; write secret://SCOPE/KEY, with secret in "
            "small letters, one scope, one key and no blanks"
        )
    try:
        return workspace.secret(**found.groupdict())
    except SecretUnread as error:
        raise SecretUnread(f"{value} {error}") from error


def _refused(error: Exception) -> SecretUnread:
    why = next(iter(str(error).splitlines()), type(error).__name__).rstrip(".")
    return SecretUnread(
        f"cannot be read ({why}); check that it is there, and that who runs this may read the scope"
    )


def _named(block: dict[Any, Any], path: str) -> Iterator[tuple[Any, Any, str]]:
    for name, each in block.items():
        yield name, each, f"{path}.{name}".removeprefix(".")
