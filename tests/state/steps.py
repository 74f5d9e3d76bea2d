"""What may happen next to a job: a step by its number, every step as likely as its weight."""

import random
from typing import Any

from state.crashpoint import Point

_POINTS = [
    Point.BEFORE_COMMIT,
    Point.BEFORE_COMMIT,
    Point.AFTER_READ,
    Point.BEFORE_COMMIT,
    Point.BEFORE_COMMIT,
    Point.AFTER_COMMIT,
    Point.AFTER_HAND_OVER,
    Point.AFTER_TICK,
]
_WEIGHTS = {
    "produce": 8,
    "tick": 8,
    "release": 3,
    "look_out": 3,
    "begin_a_transaction": 3,
    "end_a_transaction": 3,
    "move_the_clock": 2,
    "make_or_remove_a_topic": 2,
    "fold": 1,
    "crash": 1,
    "stop_and_start": 1,
}


def step_of(run: int, seed: int) -> tuple[str, dict[str, Any]]:
    """Return the name of a step and what it is told.

    Not made of strategies: those prefer alike and simple values, and most of what can go wrong here
    needs many different things at once.
    """
    dice = random.Random(f"{run} {seed}")
    [name] = dice.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
    told = globals().get(f"_{name}", lambda dice: {})(dice)
    return name, told


def _produce(dice: random.Random) -> dict[str, Any]:
    return {"said": [_command(dice) for _ in range(dice.randint(1, 3))]}


def _command(dice: random.Random) -> tuple[str, bytes, int, str]:
    return (
        dice.choice(["put", "put", "put", "cancel", "repeat", "put_elsewhere"]),
        dice.choice([b"a", b"b", b"c", b"d", b"e"]),
        dice.choice([-2, 0, 1, 2, 3, 4, 5, 6, 20]),
        dice.choice(["out", "bad"]),
    )


def _tick(dice: random.Random) -> dict[str, Any]:
    whats = ["release", "release", "depart", "crash", "release and crash", "release and crash"]
    points = dice.sample(_POINTS, dice.choice([0, 1, 1, 2]))
    return {
        "interruptions": [(p, dice.choice(whats), dice.choice([0, 3, 5])) for p in points],
        "zombie": dice.random() < 0.5,
        "unread": dice.choice([0, 0, 0, 1, 2]),
        "twice": dice.random() < 0.2,
    }


def _release(dice: random.Random) -> dict[str, Any]:
    return {"seconds": dice.choice([0, 1, 2])}


def _begin_a_transaction(dice: random.Random) -> dict[str, Any]:
    return {"lane": dice.randint(0, 2)}


def _end_a_transaction(dice: random.Random) -> dict[str, Any]:
    fate = dice.choice(["well", "well", "before", "after", "unclear"])
    return {"fate": fate, "lanes": _lanes(dice)}


def _move_the_clock(dice: random.Random) -> dict[str, Any]:
    return {"seconds": dice.choice([-7, -3, 1, 2, 4, 10])}


def _crash(dice: random.Random) -> dict[str, Any]:
    return {
        "lanes": _lanes(dice),
        "zombie": dice.random() < 0.5,
        "on_marker": dice.choice([None, 0, 1]),
    }


def _stop_and_start(dice: random.Random) -> dict[str, Any]:
    return {"lanes": _lanes(dice)}


def _lanes(dice: random.Random) -> int:
    return dice.choice([1, 1, 1, 2, 3])
