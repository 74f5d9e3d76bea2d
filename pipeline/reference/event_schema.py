"""Writes the page of the JSON Schema of events."""

from pipeline.commands import Command
from pipeline.reference.table import table
from pipeline.schema import MEANINGS, schema_text

_OPENING = """\
# Schema of events

For editors, and for tests of producers: `conf/event.schema.json`. What it accepts the job may still
refuse, by a rule that a schema cannot say; `duestream plan EVENT.json` tells. What it means is told
in [Events](../events.md) and [What to send when](../schedules.md).
"""


def event_schema_page() -> str:
    """Return the page."""
    attributes = [(f"`{name}`", meaning) for name, meaning in MEANINGS.items()]
    commands = [
        (f"`{command.type}`", command.name.lower().replace("_", " ")) for command in Command
    ]
    return (
        f"{_OPENING}\n## Attributes\n\n{table(['attribute', 'meaning'], attributes)}\n\n"
        f"## Types that are commands\n\n{table(['type', 'command'], commands)}\n\n"
        f"## The schema\n\n```json\n{schema_text().strip()}\n```\n"
    )
