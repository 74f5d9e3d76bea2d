"""Tells all that is known of one key: its versions, the commands about it, what is pending."""

from dataclasses import dataclass
from typing import Any

from pipeline.admin.namespaces import meant, namespace_of
from pipeline.admin.shown import discreet
from pipeline.commands import version_text
from pipeline.config.settings import Settings
from pipeline.dead import version_of, with_reason
from pipeline.remembered import Remembered, read_remembered
from state.inspect import Inspector
from state.row import KIND, LIVE, SOURCE_OFFSET, SOURCE_PARTITION, SOURCE_TOPIC, STATUS, Kind
from state.version import is_newer

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Single:
    """What is known of a key, the newest first; rows have their values as they are kept."""

    versions: list[Row]  # messages, and records of the key that were not admitted
    commands: list[Remembered]
    rows: list[Row]  # all of these, as they lie in the state

    @property
    def current(self) -> Row | None:
        """The message that is pending, or else the newest there was; None if there was none."""
        messages = [row for row in self.versions if row[KIND] == Kind.MESSAGE]
        live = [row for row in messages if row[STATUS] in LIVE]
        newest: Row | None = None
        for row in live or messages:
            if newest is None or is_newer(version_of(row), version_of(newest)):
                newest = row
        return newest

    @property
    def is_pending(self) -> bool:
        """Whether a message of the key is yet to go out."""
        return self.current is not None and self.current[STATUS] in LIVE

    @property
    def version(self) -> str | None:
        """What names the current message, for ``ifversion`` and as an ETag."""
        return None if self.current is None else version_of_row(self.current)


def message_of(
    state: Inspector, settings: Settings, key: bytes, source: str | None, default: str | None
) -> Single:
    """Look a key up; without ``source`` on the topic that is meant (pipeline.admin.namespaces)."""
    rows = [row for row in state.versions(key).to_pylist() if _is_of_key(row)]
    if source is None:
        name = meant(settings, {row[SOURCE_TOPIC] for row in rows}, default)
    else:
        name = namespace_of(settings, source)
    own = [row for row in rows if namespace_of(settings, row[SOURCE_TOPIC]) == name]
    own.sort(key=lambda row: (version_of(row).timestamp, version_of(row)[1:]), reverse=True)
    commands = [read_remembered(row) for row in own if row[KIND] == Kind.COMMAND]
    told = [with_reason(row) for row in own if row[KIND] != Kind.COMMAND]
    return Single([discreet(row, settings.admin.hide_payload) for row in told], commands, own)


def version_of_row(row: Row) -> str:
    """Return the version that a row is of, as text."""
    return version_text(row[SOURCE_PARTITION], row[SOURCE_OFFSET])


def etag(version: str) -> str:
    """Write a version as the value of an ETag header."""
    return f'"{version}"'


def _is_of_key(row: Row) -> bool:
    """Tell whether a row is about the key, and is no pause of a topic that was sent under it."""
    return row[KIND] != Kind.COMMAND or read_remembered(row).scope == "key"
