"""Shows settings the way a file gives them, with every secret hidden."""

import re
from typing import Any

import yaml
from pydantic import SecretStr

from pipeline.config.settings import Settings
from pipeline.config.spans import write_duration
from pipeline.config.tree import Setting, fields_of
from state.settings import Block

HIDDEN = "****"
_SECRET_NAME = re.compile(
    r"password|secret|token|key|credential|sasl\.jaas\.config|oauthbearer\.config", re.IGNORECASE
)


def as_yaml(settings: Settings) -> str:
    """Return all settings as YAML."""
    return yaml.safe_dump(shown(settings), sort_keys=False, allow_unicode=True)


def shown(block: Block) -> dict[str, Any]:
    """Return the settings of a block as a file would hold them, secrets hidden."""
    return {
        setting.path: as_in_file(setting, getattr(block, setting.path))
        for setting in fields_of(type(block))
    }


def as_in_file(setting: Setting, value: Any) -> Any:
    """Return the value of one setting as a file would hold it, secrets hidden."""
    if isinstance(value, Block):
        return shown(value)
    if setting.is_duration:
        return None if value is None else write_duration(value)
    if isinstance(value, list):
        return [shown(item) if isinstance(item, Block) else item for item in value]
    if isinstance(value, dict):
        return {name: _option(name, option) for name, option in value.items()}
    return HIDDEN if isinstance(value, SecretStr) else value


def _option(name: str, value: Block | str | SecretStr) -> Any:
    if isinstance(value, Block):
        return shown(value)
    if isinstance(value, SecretStr) or _SECRET_NAME.search(name):
        return HIDDEN
    return value
