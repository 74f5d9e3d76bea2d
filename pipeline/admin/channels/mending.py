"""Looks after the channels every so often, beside the requests."""

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)


class Mending:
    """Calls ``mend`` at once and every so often, in a thread of its own, until ``close``."""

    def __init__(self, mend: Callable[[], None], every: float) -> None:
        self._mend = mend
        self._every = every
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="channels-mending", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._mend()
            except Exception as error:  # the next time it may be better
                log.warning("the channels could not be looked after: %s", error)
            self._closing.wait(self._every)
