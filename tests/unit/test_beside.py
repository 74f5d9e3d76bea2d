"""Work is done beside other work; who asks gets what came of it, or hears what went wrong."""

import threading

import pytest

from pipeline.beside import Beside
from pipeline.early import early
from state.errors import StateError
from state.memory import MemoryStore
from state.settings import StateSettings

MEMORY = StateSettings(kind="memory")


def test_it_is_done_while_somebody_else_does_another_thing() -> None:
    begun = threading.Event()
    work = Beside(begun.wait)
    begun.set()
    assert work.take() is True


def test_what_goes_wrong_is_told_to_who_asks() -> None:
    def fail() -> None:
        raise StateError("no such state")

    with pytest.raises(StateError, match="no such state"):
        Beside(fail).take()


def test_what_nobody_asks_for_is_let_go_of_and_what_went_wrong_is_nobodys_concern() -> None:
    left: list[int] = []
    Beside(lambda: 7).drop(left.append)
    Beside(lambda: 1 // 0).drop(left.append)
    assert left == [7]


def test_a_state_that_needs_no_spark_is_opened_early() -> None:
    with early(MEMORY) as opened:
        assert opened is not None
        assert isinstance(opened(), MemoryStore)


def test_a_state_opened_early_for_nobody_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = threading.Event()
    monkeypatch.setattr(MemoryStore, "close", lambda self: closed.set())
    with pytest.raises(RuntimeError, match="no Java"), early(MEMORY):
        raise RuntimeError("no Java")
    assert closed.is_set()


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "delta", "delta": {"path": "x", "writer": "spark"}},
        {"kind": "delta", "delta": {"path": "x", "catalog_schema": "main.due"}},
        {"kind": "mongo", "mongo": {"uri": "mongodb://x", "database": "d", "writer": "spark"}},
    ],
)
def test_a_state_that_spark_writes_waits_for_spark(settings: dict[str, object]) -> None:
    with early(StateSettings.model_validate(settings)) as opened:
        assert opened is None
