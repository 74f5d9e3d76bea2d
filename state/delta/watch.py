"""Follows a state commit by commit, for a process that asks again and again.

What the last fold left is loaded into memory in the background, and each commit since is applied to
it. When the next fold has ended, its rows are loaded while the old ones and the commits since still
answer.
"""

import logging
import threading
import time
from collections.abc import Callable

import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from state.delta.base import Base, make_base
from state.delta.current import Current, advanced, begun
from state.delta.layout import CHANGELOG, SCHEDULES, Layout
from state.delta.mark import Mark
from state.delta.snapshot import read_mark
from state.delta.tables import Tables, scannable
from state.delta.tail_files import TailFiles
from state.errors import StateError

_OPEN_ANEW = 60.0  # seconds: a state that was restored, or is another one, is seen by then
_TRY_AGAIN = 60.0  # seconds after rows could not be loaded

log = logging.getLogger(__name__)


class Watch:
    """Asked by any number of threads; what it gives out never changes."""

    def __init__(self, tables: Tables, make: Callable[[Tables], Base | None] = make_base) -> None:
        self._tables = tables
        self._make = make
        self._lock = threading.Lock()
        self._opened_at = 0.0
        self._changelog: DeltaTable | None = None
        self._schedules: DeltaTable | None = None
        self._mark: tuple[int, Mark] | None = None  # of which version of schedules
        self._current: tuple[int, Current] | None = None  # as of which version of the changelog
        self._tail: TailFiles | None = None
        self._made: Base | None = None
        self._making: threading.Thread | None = None
        self._not_before = 0.0

    def current(self) -> Current | None:
        """Return the state after its newest commit; None while it is not in memory."""
        with self._lock:
            self._look()
            self._take_over()
            self._advance()
            if self._is_behind():
                self._begin_to_make()
            return None if self._current is None else self._current[1]

    def changelog(self) -> ds.Dataset:
        """Return the changelog as of the last look."""
        with self._lock:
            assert self._changelog is not None  # noqa: S101
            return scannable(self._changelog)

    def wait(self) -> None:
        """Wait until what is being loaded is there."""
        making = self._making
        if making is not None:
            making.join()

    def _look(self) -> None:
        """Bring both tables up to date, the changelog first."""
        now = time.monotonic()
        if self._changelog is None or now - self._opened_at > _OPEN_ANEW:
            before = self._changelog
            self._changelog, self._opened_at = self._tables.open(CHANGELOG), now
            self._schedules = self._tables.open(SCHEDULES)
            if before is not None and not _is_later(before, self._changelog):
                self._current = self._made = self._mark = None
            return
        self._changelog = self._updated(self._changelog, CHANGELOG)
        self._schedules = self._updated(self._schedules, SCHEDULES)

    def _updated(self, table: DeltaTable | None, layout: Layout) -> DeltaTable:
        try:
            if table is not None:
                table.update_incremental()
                return table
        except (DeltaError, OSError):
            log.debug("%s is opened anew", layout.name, exc_info=True)
        return self._tables.open(layout)

    def _folded(self) -> Mark:
        """Return how far the last fold went."""
        assert self._schedules is not None  # noqa: S101
        version = int(self._schedules.version())
        if self._mark is None or self._mark[0] != version:
            self._mark = version, read_mark(scannable(self._schedules))
        return self._mark[1]

    def _take_over(self) -> None:
        """Go on from rows that were loaded, if all commits since are still told."""
        base, self._made = self._made, None
        if base is not None and self._folded().seq <= base.mark.seq:
            assert self._changelog is not None  # noqa: S101
            self._tail = TailFiles(self._changelog, dict(self._tables.options))
            self._current = -1, begun(base)

    def _advance(self) -> None:
        """Apply what was committed since; forget everything when a fold has it already."""
        assert self._changelog is not None  # noqa: S101
        if self._current is None or self._tail is None:
            return
        (version, current), newest = self._current, int(self._changelog.version())
        if self._folded().seq > current.clock.seq:
            self._current = None
        elif newest != version:
            lines = self._tail.read(self._changelog, current.clock.seq)
            self._current = newest, advanced(current, lines)

    def _is_behind(self) -> bool:
        if self._current is None:
            return True
        return self._folded().seq > self._current[1].base.mark.seq

    def _begin_to_make(self) -> None:
        busy = self._making is not None and self._making.is_alive()
        if busy or time.monotonic() < self._not_before:
            return
        self._making = threading.Thread(target=self._load, name="watch", daemon=True)
        self._making.start()

    def _load(self) -> None:
        try:
            self._made = self._make(self._tables)
        except (StateError, DeltaError, OSError):
            log.warning("the rows could not be loaded; the files are read instead", exc_info=True)
        if self._made is None:
            self._not_before = time.monotonic() + _TRY_AGAIN


def _is_later(before: DeltaTable, after: DeltaTable) -> bool:
    """Tell whether a table is the same one, at a later version."""
    same = before.metadata().id == after.metadata().id
    return bool(same and after.version() >= before.version())
