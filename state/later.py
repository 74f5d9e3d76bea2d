"""Lets a module offer names whose own modules are loaded when they are first asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def later(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of ``module``; ``places`` are names and the modules they are in.

    For what is heavy and not wanted by all who import the module. Type checkers must not see it, or
    they would take any name for known: import the same names under TYPE_CHECKING, else call this.
    """

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    return find
