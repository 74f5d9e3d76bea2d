"""Keeps the near window filled: ahead of time in the background, at once where a claim needs it."""

import logging
import threading

import pyarrow as pa

from state.delta.load import Loaded, load_window
from state.delta.tables import Tables
from state.delta.window import Window, added_rows

_NOTHING = -(2**62)  # before any instant: the first claim loads the window

log = logging.getLogger(__name__)


class WindowKeeper:
    """Holds the window and replaces it; ``window`` is current after each commit."""

    def __init__(self, tables: Tables, span: int, most: int) -> None:
        self.window = Window(_NOTHING, None)
        self._tables = tables
        self._span = span
        self._most = most
        self._full = False  # the window ends early because of its size
        self._thread: threading.Thread | None = None
        self._loaded: Loaded | None = None
        self._since: list[tuple[int, pa.Table]] = []

    def load(self, now: int) -> None:
        """Load the window anew and wait for it."""
        self._load_now(now + self._span, self._most)

    def make_ready(self, now: int, until: int, limit: int, changes: int) -> None:
        """See to it that up to ``limit`` rows due by ``until`` can be claimed after ``changes``."""
        self._take_over()
        if self._is_enough(until, limit + changes):
            return
        self.wait()
        if not self._is_enough(until, limit + changes):
            self._load_now(max(now + self._span, until + 1), max(self._most, limit + changes))

    def committed(self, seq: int, lines: pa.Table) -> None:
        """Take note of lines that are in the window but not in one that is being loaded."""
        if self._thread is not None:
            self._since.append((seq, lines))

    def look_ahead(self, now: int) -> None:
        """Begin to load the next window when this one is half used up."""
        self._take_over()
        used_up = (
            len(self.window) < self._most // 2
            if self._full
            else self.window.end - now < self._span // 2
        )
        if used_up and self._thread is None and self.window.end != _NOTHING:
            self._since = []
            self._thread = threading.Thread(
                target=self._load_behind, args=(now + self._span,), name="window", daemon=True
            )
            self._thread.start()

    def forget(self) -> None:
        """Let go of the window; the next claim loads it anew."""
        self.wait()
        self.window = Window(_NOTHING, _NOTHING)

    def wait(self) -> None:
        """Wait for a load that has begun and take its result over."""
        if self._thread is not None:
            self._thread.join()
            self._take_over()

    def _is_enough(self, until: int, rows: int) -> bool:
        return until < self.window.end or self.window.due_by(until) >= rows

    def _load_now(self, until: int, most: int) -> None:
        self.window = load_window(self._tables, until, most).window
        self._full = self.window.end < until

    def _load_behind(self, until: int) -> None:
        try:
            self._loaded = load_window(self._tables, until, self._most)
            self._full = self._loaded.window.end < until
        except Exception:
            log.warning("the next window could not be loaded; it is tried again", exc_info=True)

    def _take_over(self) -> None:
        if self._thread is None or self._thread.is_alive():
            return
        self._thread = None
        loaded, self._loaded = self._loaded, None
        if loaded is None or loaded.window.end < self.window.end:
            return
        for seq, lines in self._since:
            if seq > loaded.seq:
                loaded.window.apply(lines, added_rows(lines, loaded.window.end))
        self.window, self._since = loaded.window, []
