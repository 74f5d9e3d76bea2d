"""Reads the text of one setting, as a variable or a flag gives it."""

from typing import Any

import yaml

from pipeline.config.tree import Setting


def read_text(setting: Setting, text: str) -> Any:
    """Return what a file would hold for ``text``, or raise ValueError with a sentence."""
    if setting.is_optional and text in ("", "null"):
        return None
    if setting.is_list:
        return _parsed(text, list) if text.startswith("[") else _by_comma(text)
    if setting.is_map or setting.block:
        return _parsed(text, dict)
    return text


def read_item(text: str) -> Any:
    """Return the block that ``text`` gives for one name in a map of blocks, or raise ValueError."""
    return _parsed(text, dict)


def _by_comma(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _parsed(text: str, kind: type) -> Any:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, kind):
        # The parser's own message would repeat the text, and with it any secret.
        example = '["a", "b"]' if kind is list else '{"name": "value"}'
        raise ValueError(f"cannot be read; write it as JSON, such as {example}")
    return value
