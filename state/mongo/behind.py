"""Carries a commit out while the job goes on with its claims.

A commit stands once ``meta`` names its journal. To have the documents changed takes several times
as long, and nobody needs it before the next question to the collections: so that waits, the job
does not. One commit at a time is behind.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple


class CarriedOut(NamedTuple):
    """What is known once a commit is carried out."""

    beside: bool  # whether a version that is not the head of its key is pending
    ended: float  # by time.monotonic


class Behind:
    """Does one thing at a time in a thread of its own."""

    def __init__(self) -> None:
        self._done: Future[CarriedOut] | None = None

    def begin(self, work: Callable[[], bool]) -> None:
        """Begin, once what was begun before has ended; ``work`` returns what ``beside`` is then."""
        done: Future[CarriedOut] = Future()

        def run() -> None:
            try:
                done.set_result(CarriedOut(work(), time.monotonic()))
            except BaseException as failure:
                done.set_exception(failure)

        self._done = done
        # Nobody has to wait for it to the end: whoever opens the state next finishes it.
        threading.Thread(target=run, name="carry out", daemon=True).start()

    def end(self) -> CarriedOut | None:
        """Wait for what was begun and return what it found, once; raise what went wrong."""
        done, self._done = self._done, None
        return None if done is None else done.result()
