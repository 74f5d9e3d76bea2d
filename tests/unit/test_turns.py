"""Turns are had one at a time, in the order in which they were asked for."""

import threading
from contextlib import suppress

from pipeline.outbox.turns import Turns

PATIENCE = 60.0


def asks(turns: Turns, name: str, told: list[str], done: threading.Event) -> threading.Thread:
    """Start a thread that wants a turn, and return once it waits for one."""

    def take() -> None:
        with turns:
            told.append(name)
        done.set()

    waiting = len(turns._waiting)
    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    while len(turns._waiting) == waiting:
        assert thread.is_alive()
    return thread


def test_whoever_asks_again_waits_behind_those_that_wait_already() -> None:
    turns, told = Turns(), list[str]()
    done = [threading.Event() for _ in range(3)]
    with turns:
        threads = [asks(turns, name, told, done[n]) for n, name in enumerate("abc")]
    with turns:
        told.append("again")
    for thread in threads:
        thread.join(PATIENCE)
    assert told == ["a", "b", "c", "again"]


def test_a_turn_that_fails_is_over() -> None:
    turns = Turns()
    with suppress(ValueError), turns:
        raise ValueError
    done = threading.Event()

    def take() -> None:
        with turns:
            done.set()

    threading.Thread(target=take, daemon=True).start()
    assert done.wait(PATIENCE)


def test_only_one_is_in_at_a_time() -> None:
    turns, inside, most = Turns(), list[int](), list[int]()

    def work() -> None:
        for number in range(200):
            with turns:
                inside.append(number)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(most) == 800
    assert max(most) == 1
