"""Walks the models and names each setting by its path, such as ``kafka.security.protocol``."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from state.duration import Duration
from state.settings import Block

_READS_DURATIONS = get_args(Duration)[1]


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of one block, and where it stands."""

    path: str
    info: FieldInfo

    @property
    def block(self) -> type[Block] | None:
        """The block it holds, if it is a block and no single value."""
        return _block(self.info.annotation)

    @property
    def item(self) -> type[Block] | None:
        """The block that each of its items is, if it is a list or a map of blocks."""
        items = get_args(self.info.annotation)[-1:] if self.is_list or self.is_map else ()
        return _block(items[0]) if items else None

    @property
    def inside(self) -> str:
        """The path of the blocks it holds: any of a list, or any by its name in a map."""
        if self.item is None:
            return self.path
        return f"{self.path}[NAME]" if self.is_map else f"{self.path}[]"

    @property
    def is_list(self) -> bool:
        """Whether it holds several values."""
        return get_origin(self.info.annotation) is list

    @property
    def is_map(self) -> bool:
        """Whether it holds options under names of their own."""
        return get_origin(self.info.annotation) is dict

    @property
    def is_duration(self) -> bool:
        """Whether it is written as text and held in microseconds."""
        kinds = get_args(self.info.annotation)  # more than one, where it may be null
        known = [self.info.metadata, *(getattr(kind, "__metadata__", ()) for kind in kinds)]
        return any(_READS_DURATIONS in each for each in known)

    @property
    def is_optional(self) -> bool:
        """Whether it may be null."""
        return NoneType in get_args(self.info.annotation)


def fields_of(block: type[Block], path: str = "") -> Iterator[Setting]:
    """Yield the fields of one block, without those of the blocks inside it."""
    for name, info in block.model_fields.items():
        yield Setting(f"{path}.{name}" if path else name, info)


def settings_of(block: type[Block], path: str = "") -> Iterator[Setting]:
    """Yield every setting below ``block``: the blocks, and what is in them."""
    for setting in fields_of(block, path):
        yield setting
        inner = setting.block or setting.item
        if inner is not None:
            yield from settings_of(inner, setting.inside)


def block_at(block: type[Block], place: tuple[int | str, ...]) -> type[Block] | None:
    """Return the block found at ``place``, a path as pydantic tells it, with list positions."""
    here: type[Block] | None = block
    names_item = False
    for step in place:
        if isinstance(step, int) or here is None or names_item:
            names_item = False
            continue
        found = {setting.path: setting for setting in fields_of(here)}.get(step)
        here = None if found is None else found.block or found.item
        names_item = found is not None and found.is_map
    return here


def _block(annotation: Any) -> type[Block] | None:
    is_block = isinstance(annotation, type) and issubclass(annotation, Block)
    return annotation if is_block else None
