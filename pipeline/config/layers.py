"""The layers below the flags, as sources of pydantic-settings, and what all layers come to."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource

from pipeline.config.file import read_file
from pipeline.config.problems import Problem
from pipeline.config.secrets import revealed
from pipeline.config.texts import read_item, read_text
from pipeline.config.tree import Setting

Variables = Mapping[str, str | None]


class Given(NamedTuple):
    """What settings are taken from, and what was wrong with the secrets they name."""

    file: Path | None
    variables: Variables
    unread: list[Problem]


# pydantic-settings asks the class for its sources, so what they read cannot be an argument.
_GIVEN: ContextVar[Given | None] = ContextVar("layers", default=None)


@contextmanager
def layers(file: Path | None, variables: Variables) -> Iterator[list[Problem]]:
    """Let settings made inside take what they are not given from ``variables``, then ``file``.

    Secrets that they name are read; the list that is yielded gets those that cannot be.
    """
    given = Given(file, variables, [])
    before = _GIVEN.set(given)
    try:
        yield given.unread
    finally:
        _GIVEN.reset(before)


def lower_sources(settings: type[BaseSettings]) -> tuple[PydanticBaseSettingsSource, ...]:
    """Return the sources below the flags, the winning one first; none outside of ``layers``."""
    given = _GIVEN.get()
    if given is None:
        return ()
    return VariableSource(settings, given.variables), FileSource(settings, given.file)


def with_secrets(merged: Any) -> Any:
    """Return what all layers come to with secrets in place of their names; as is outside of them.

    Not layer by layer: what another layer covers is asked for by nobody.
    """
    given = _GIVEN.get()
    if given is None:
        return merged
    values, unread = revealed(merged)
    given.unread.extend(unread)
    return values


class VariableSource(EnvSettingsSource):
    """Takes settings from given variables, named as environment.known_variables names them."""

    def __init__(self, settings: type[BaseSettings], variables: Variables) -> None:
        super().__init__(settings)
        self.env_vars = variables

    def decode_complex_value(self, field_name: str, field: FieldInfo | None, value: Any) -> Any:
        """Read a list, a map or a block: lists also by comma, where JSON alone would be taken.

        A block in a map of blocks has no field of its own.
        """
        return read_item(value) if field is None else read_text(Setting(field_name, field), value)


class FileSource(PydanticBaseSettingsSource):
    """Takes settings from a file, with a ConfigError when it cannot be read."""

    def __init__(self, settings: type[BaseSettings], file: Path | None) -> None:
        super().__init__(settings)
        self._file = file

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return one setting of the outermost block."""
        return self().get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return all that the file holds, unknown names too: they are refused with the rest."""
        content = {} if self._file is None else read_file(self._file)
        return {str(name): value for name, value in content.items()}  # YAML has numbers as names
