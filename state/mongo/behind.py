"""Carries a commit out while the job goes on with its claims.

A commit stands once ``meta`` names its journal. To have the documents changed takes several times
as long, and nobody needs it before the next question to the collections: so that waits, the job
does not. One commit at a time is behind.
"""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple


class CarriedOut(NamedTuple):
    """What is known once a commit is carried out."""

    beside: bool  # whether a version that is not the head of its key is pending
    ended: float  # by time.monotonic


class Behind:
    """Does one thing at a time in a thread of its own."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._done: CarriedOut | None = None
        self._failure: BaseException | None = None

    def begin(self, work: Callable[[], bool]) -> None:
        """Begin, once what was begun before has ended; ``work`` returns what ``beside`` is then."""

        def run() -> None:
            try:
                beside = work()
                self._done = CarriedOut(beside, time.monotonic())
            except BaseException as failure:
                self._failure = failure

        self._done = self._failure = None
        # A process that ends does not wait for it: whoever opens the state next finishes it.
        self._thread = threading.Thread(target=run, name="carry out", daemon=True)
        self._thread.start()

    def end(self) -> CarriedOut | None:
        """Wait for what was begun and return what it found, once; raise what went wrong."""
        thread, self._thread = self._thread, None
        if thread is None:
            return None
        thread.join()
        if self._failure is not None:
            raise self._failure
        return self._done
