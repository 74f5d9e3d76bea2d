"""Lets one call of an object go on at a time."""

import functools
import threading
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar


class TakesTurns:
    """An object whose calls marked ``in_turn`` wait for each other."""

    def __init__(self) -> None:
        self.turn = threading.RLock()


S = TypeVar("S", bound=TakesTurns)
P = ParamSpec("P")
R = TypeVar("R")


def in_turn(call: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make a method wait until no other one of its object is under way."""

    @functools.wraps(call)
    def waiting(owner: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with owner.turn:
            return call(owner, *args, **kwargs)

    return waiting
