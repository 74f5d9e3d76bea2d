"""Reads the kafka-acls commands that ``duestream acl show`` prints."""

import argparse
import shlex

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

_OPERATIONS = {
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
    "Create": AclOperation.CREATE,
    "Alter": AclOperation.ALTER,
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
}
_KINDS = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional_id": ResourceType.TRANSACTIONAL_ID,
}


def bindings(text: str) -> list[AclBinding]:
    """Return what the commands add, one binding for each operation."""
    return [binding for line in text.splitlines() for binding in _added(shlex.split(line))]


def _added(words: list[str]) -> list[AclBinding]:
    command, *rest = words
    assert command == "kafka-acls"
    said = vars(_options().parse_args(rest))
    (kind,) = [name for name in _KINDS if said[name] is not None]
    return [
        AclBinding(
            _KINDS[kind],
            said[kind],
            ResourcePatternType[said["resource_pattern_type"].upper()],
            said["allow_principal"],
            "*",
            _OPERATIONS[operation],
            AclPermissionType.ALLOW,
        )
        for operation in said["operation"]
    ]


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(exit_on_error=False)
    for name in ("--bootstrap-server", "--allow-principal"):
        options.add_argument(name, required=True)
    options.add_argument("--add", action="store_true", required=True)
    options.add_argument("--operation", action="append", required=True, choices=_OPERATIONS)
    options.add_argument("--resource-pattern-type", default="literal")
    for name in ("--command-config", "--topic", "--group", "--transactional-id"):
        options.add_argument(name)
    return options
