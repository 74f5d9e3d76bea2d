"""Opens the state while Spark starts, where that needs no Spark."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.beside import Beside
from state.open import needs_spark, open_store
from state.settings import StateSettings
from state.store import Store


@contextmanager
def early(settings: StateSettings) -> Iterator[Callable[[], Store] | None]:
    """Lend what gives the store, once; None where it can only be opened with Spark.

    A store that nobody has asked for in the end is closed.
    """
    if needs_spark(settings):
        yield None
        return
    opening, taken = Beside(lambda: open_store(settings)), False

    def take() -> Store:
        nonlocal taken
        taken = True
        return opening.take()

    try:
        yield take
    finally:
        if not taken:
            opening.drop(lambda store: store.close())
