"""A life that brings stores into every situation a state knows, and steps that touch each again."""

from build import at, cancel, every, ignored, order, outcome, put, receipt, reject, settled, tick

from state.pausing import Paused
from state.row import PARKED_ALONE

SLOW = Paused(topics=frozenset({"slow"}))


def live(*stores):
    """Bring stores into every situation that a state knows."""

    def commit(*args, **said):
        told = [s.commit(tick(*args, **said)).to_pylist() for s in stores]
        assert all(each == told[0] for each in told)

    commit(
        0,
        0,
        [
            put(b"done", 0, due=1),
            put(b"unsure", 1, due=1),
            put(b"dead", 2, due=1),
            put(b"back", 3, due=1),
            put(b"taken back", 4, due=1),
            put(b"far", 5, due=3_000_000, headers=[{"key": "h", "value": b"\0\xff"}]),
            put(b"replaced", 6, due=90, superseded=2),
            put(b"cancelled", 7, due=90),
            put(b"overtaken", 8, due=2),
            put(b"withdrawn", 9, due=2),
            reject(10),
            put(b"elsewhere", 0, due=95, partition=1, stamp=500),
            put(b"again", 0, due=0, partition=3, policy=every(2, first=0, count=20)),
            put(b"missing", 1, due=-900, partition=3, policy=every(60, first=-900)),
            put(b"parked", 5, due=1, partition=3, output_topic="slow"),
            put(b"alone", 6, due=90, partition=3),
        ],
        until=2,
        paused=SLOW,
    )
    retry = {"due": 60, "attempt": 1, "attempted_at": [at(3)], "reason": "away"}
    commit(
        1,
        5,
        [put(b"replaced", 11, due=80), cancel(b"cancelled", 12), cancel(b"nothing", 13)],
        [
            outcome(b"done", 0, "done", **receipt()),
            outcome(b"unsure", 1, "done"),
            outcome(b"dead", 2, "dead", reason="too_large", detail="x", attempt=2),
            outcome(b"back", 3, "pending", **retry),
            outcome(b"again", 0, "pending", due=61, partition=3),
            outcome(b"alone", 6, "pending", due=PARKED_ALONE, partition=3),
        ],
    )
    # Both stay claimed while a newer command is heard.
    commit(4, 6, [put(b"overtaken", 14, due=70), cancel(b"withdrawn", 15)])
    commit(5, 7, [put(b"late", 1, due=8, partition=1, stamp=600), reject(16)], until=8)
    turned_away = [ignored(b"far", 7, partition=3, stamp=900), ignored(b"new", 8, partition=3)]
    older = [put(b"elsewhere", 0, due=7, partition=2, stamp=400), cancel(b"gone", 17, superseded=3)]
    last = [put(b"last", 18, due=9), put(b"put back", 19, due=9), order(20, b"far")]
    commit(6, 8, [*older, *turned_away, *last], until=9)
    for store in stores:
        store.settle(settled(outcome(b"last", 18, "done", **receipt(1, 5))), at(10))
        again = outcome(b"put back", 19, "pending", due=75, attempt=1, attempted_at=[at(10)])
        store.settle(settled(again, outcome(b"taken back", 4, "pending", due=65)), at(11))


# Cancels that a fold brings out of the changelog: Delta tables forget them, so a copy cannot know.
FORGOTTEN = [
    ([put(b"nothing", 2, due=13, partition=2, stamp=12.5)], [], 13),
    ([put(b"cancelled", 3, due=13, partition=2, stamp=11.5)], [], 13),
    ([], [outcome(b"withdrawn", 9, "pending", due=14)], 13),
]
STEPS = [
    # Records that were taken already: nothing may come of them.
    ([put(b"done", 0, due=1), put(b"far", 5, due=1), cancel(b"replaced", 11)], [], 12),
    # Older than the newest command of the key, by the clock of another partition.
    ([put(b"elsewhere", 4, due=13, partition=2, stamp=450)], [], 13),
    # Put back after a newer command: replaced. Without one: pending.
    (
        [],
        [
            outcome(b"overtaken", 8, "pending", due=14),
            outcome(b"late", 1, "pending", partition=1, stamp=600, due=99, attempt=1),
        ],
        15,
    ),
    # The receipt was unknown: another outcome corrects it. A known one stays.
    ([], [outcome(b"unsure", 1, "dead", reason="r"), outcome(b"done", 0, "dead")], 16),
    ([put(b"new", 21, due=17), cancel(b"back", 22), put(b"last", 23, due=64)], [], 66),
    ([], [outcome(b"refused 16", 16, "done", **receipt())], 100),
    ([cancel(b"far", 24), put(b"put back", 25, due=18)], [], 4_000_000),
]


def go_on(steps, *stores):
    """Tell stores that have lived the same; what each claims must be what the others claim."""
    first = stores[0].last_batch + 1
    for batch, (commands, outcomes, until) in enumerate(steps, first):
        ended = Paused() if batch == first + 1 else None
        said = tick(batch, until, commands, outcomes, until=until, paused=ended)
        told = [store.commit(said).to_pylist() for store in stores]
        assert all(each == told[0] for each in told)
