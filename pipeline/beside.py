"""Does a piece of work while something else is done: a start takes as long as the longer one."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Generic, TypeVar

Made = TypeVar("Made")
_PATIENCE = 5.0  # seconds for work that nobody asks for any more


class Beside(Generic[Made]):
    """Work in a thread of its own; what it raises is raised to whoever asks for the result."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._made: Future[Made] = Future()
        # A daemon: work that hangs does not keep the process.
        threading.Thread(target=self._work, args=(make,), name="beside", daemon=True).start()

    def take(self) -> Made:
        """Wait for the result and return it."""
        return self._made.result()

    def drop(self, let_go: Callable[[Made], None] = lambda made: None) -> None:
        """Let go of the result: nobody will ask for it. Wait a moment for it, no longer."""
        gone = threading.Event()

        def done(made: "Future[Made]") -> None:
            with suppress(BaseException):
                let_go(made.result())
            gone.set()

        self._made.add_done_callback(done)
        gone.wait(_PATIENCE)

    def _work(self, make: Callable[[], Made]) -> None:
        try:
            self._made.set_result(make())
        except BaseException as error:
            self._made.set_exception(error)
