"""One job at a time beside the tests of the web process: each costs a part of two cores."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any


class OneJob:
    """Keeps what was opened last, under its name."""

    def __init__(self) -> None:
        self._name: str | None = None
        self._opened: Any = None
        self._stack = ExitStack()

    def get(self, name: str, open_it: Callable[[ExitStack], Any]) -> Any:
        """Return what was opened under this name; anything else is closed before it is opened."""
        if name != self._name:
            self.close()
            self._opened = open_it(self._stack)
            self._name = name
        return self._opened

    def close(self) -> None:
        """End the job and its server."""
        self._name = self._opened = None
        self._stack.close()
