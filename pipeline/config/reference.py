"""Writes docs/configuration.md from the models: ``python -m pipeline.config.reference``."""

import sys
from collections.abc import Iterator
from typing import Any, get_args

import yaml
from pydantic_core import PydanticUndefined

from pipeline.config.environment import variable
from pipeline.config.settings import Settings
from pipeline.config.show import as_in_file
from pipeline.config.tree import Setting, fields_of, settings_of
from state.settings import Block

_OPENING = """\
# Configuration

Settings come from a YAML file, over it from environment variables, over those from flags
(`--set path.to.setting=value`, as often as needed). The file is the one `--config` names, else
`DUESTREAM_CONFIG`, else `./duestream.yaml`, else `./conf/duestream.yaml`; without one the defaults
below hold. [conf/duestream.yaml](../conf/duestream.yaml) has every setting with its default.

- A variable is `DUESTREAM_` and the path in capitals, with two underscores between its steps:
  `DUESTREAM_KAFKA__BOOTSTRAP_SERVERS`.
- In variables and flags a list is written with commas (`orders,invoices.*`) or as JSON, a list of
  blocks and a map as JSON; `null` takes a value away. One option of a map goes by its own name:
  `--set kafka.client_options.debug=broker`.
- Times are written with their unit: `500ms`, `90s`, `1h30m`, `7d`, or `PT15M`.
- An unknown name is refused wherever it stands, and the nearest right one is told.
- `duestream config check` says what is wrong, `duestream config show` what holds in the end;
  passwords and the like are shown as `****`.
- On Databricks a text may name a secret instead of holding it: `secret://SCOPE/KEY`. It is read
  with the Databricks SDK. Any other text that begins with `secret://` is refused.
"""


def reference() -> str:
    """Return the page."""
    blocks = [setting for setting in settings_of(Settings) if setting.block or setting.item]
    top = [setting for setting in fields_of(Settings) if not (setting.block or setting.item)]
    parts = [_OPENING, _table(top)]
    parts.extend(_section(setting) for setting in blocks)
    return "\n".join(parts)


def _section(setting: Setting) -> str:
    block = setting.block or setting.item
    if block is None:
        raise TypeError(f"{setting.path} is no block")
    rows = [inner for inner in fields_of(block, setting.inside) if not (inner.block or inner.item)]
    rows = [setting, *rows] if setting.item else rows
    return f"## `{setting.path}`\n\n{_meaning(block)}\n\n{_table(rows)}"


def _meaning(block: type[Block]) -> str:
    return (block.__doc__ or "").strip()


def _table(settings: list[Setting]) -> str:
    return "".join(f"{line}\n" for line in _lines(settings))


def _lines(settings: list[Setting]) -> Iterator[str]:
    yield "| setting | default | variable | meaning |"
    yield "|---|---|---|---|"
    for setting in settings:
        name = "" if "[" in setting.path else f"`{variable(setting.path)}`"
        meaning = setting.info.description or ""
        yield f"| `{setting.path}` | {_default(setting)} | {name} | {meaning}{_choices(setting)} |"


def _default(setting: Setting) -> str:
    default: Any = setting.info.get_default(call_default_factory=True)
    if default is PydanticUndefined:
        return "required"
    text = yaml.safe_dump(
        as_in_file(setting, default), sort_keys=False, default_flow_style=True, width=999
    )
    return f"`{text.removesuffix(chr(10)).removesuffix('...').strip()}`"


def _choices(setting: Setting) -> str:
    kinds = (setting.info.annotation, *get_args(setting.info.annotation))
    words = [word for kind in kinds for word in get_args(kind) if isinstance(word, str)]
    return f" ({', '.join(f'`{word}`' for word in words)})" if words else ""


if __name__ == "__main__":
    sys.stdout.write(reference())
