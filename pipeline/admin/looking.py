"""Opens the state for the requests of the web process, once it is there."""

import threading

from pipeline.config.settings import Settings
from state.inspect import Inspector
from state.open import open_watcher


class Looking:
    """Has the inspector of the state, opened at the first question; many threads may ask.

    A state that is not there yet, or a server that is away, is a StateError each time it is asked
    for, and asked for again the next time.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opening = threading.Lock()
        self._inspector: Inspector | None = None

    def inspector(self) -> Inspector:
        """Return the inspector."""
        with self._opening:
            if self._inspector is None:
                self._inspector = open_watcher(self._settings.state)
            return self._inspector
