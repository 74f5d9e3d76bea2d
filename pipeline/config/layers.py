"""The layers below the flags, as sources of pydantic-settings: the environment and the file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource

from pipeline.config.file import read_file
from pipeline.config.texts import read_item, read_text
from pipeline.config.tree import Setting

Variables = Mapping[str, str | None]

# pydantic-settings asks the class for its sources, so what they read cannot be an argument.
_GIVEN: ContextVar[tuple[Path | None, Variables] | None] = ContextVar("layers", default=None)


@contextmanager
def layers(file: Path | None, variables: Variables) -> Iterator[None]:
    """Let settings made inside take what they are not given from ``variables``, then ``file``."""
    before = _GIVEN.set((file, variables))
    try:
        yield
    finally:
        _GIVEN.reset(before)


def lower_sources(settings: type[BaseSettings]) -> tuple[PydanticBaseSettingsSource, ...]:
    """Return the sources below the flags, the winning one first; none outside of ``layers``."""
    given = _GIVEN.get()
    if given is None:
        return ()
    file, variables = given
    return VariableSource(settings, variables), FileSource(settings, file)


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
