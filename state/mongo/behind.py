"""Carries a commit out while the job goes on with its claims.

A commit stands once ``meta`` names its journal. To have the documents changed takes several times
as long, and nobody needs it before the next question to the collections: so that waits, the job
does not. One commit at a time is behind.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Behind(Generic[T]):
    """Does one thing at a time in a thread of its own."""

    def __init__(self) -> None:
        self._done: Future[T] | None = None

    def begin(self, work: Callable[[], T]) -> None:
        """Begin, once what was begun before has ended."""
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except BaseException as failure:
                done.set_exception(failure)

        self._done = done
        # Nobody has to wait for it to the end: whoever opens the state next finishes it.
        threading.Thread(target=run, name="carry out", daemon=True).start()

    def end(self) -> T | None:
        """Wait for what was begun and return what it returned, once; raise what went wrong."""
        done, self._done = self._done, None
        return None if done is None else done.result()
