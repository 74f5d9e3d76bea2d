"""Takes one look at the state and at what came out, for the demo's screen."""

from collections.abc import Mapping

from rich.console import RenderableType

from pipeline.clock import now_micros
from pipeline.config.settings import Settings
from pipeline.demo.screen import screen
from pipeline.demo.watcher import Watcher
from state import row
from state.errors import StateError
from state.inspect import Filter, Inspector
from state.open import open_inspector
from state.row import LIVE


class Look:
    """Reads beside the running job, as ``duestream list`` and ``duestream stats`` do."""

    def __init__(self, settings: Settings, watcher: Watcher, due: Mapping[str, int]) -> None:
        self._settings = settings
        self._watcher = watcher
        self._due = due
        self._inspector: Inspector | None = None

    def picture(self) -> RenderableType:
        """Return the screen as things are now."""
        now = now_micros()
        inspector = self._open()
        rows = inspector.rows(Filter(statuses=LIVE)).to_pylist() if inspector else []
        waiting = [
            {
                "key": (line[row.KEY] or b"").decode(errors="replace"),
                "topic": line[row.OUTPUT_TOPIC],
                "due": line[row.DUE],
                "status": line[row.STATUS],
            }
            for line in rows
        ]
        return screen(
            inspector.stats(now) if inspector else None,
            waiting,
            self._watcher.published,
            self._watcher.dead_letters,
            self._due,
            now,
        )

    def _open(self) -> Inspector | None:
        if self._inspector is None:
            try:
                self._inspector = open_inspector(self._settings.state)
            except StateError:  # the job has not made its tables yet
                return None
        return self._inspector
