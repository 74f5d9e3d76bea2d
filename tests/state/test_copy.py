"""A state copied to another store is the same state: nothing lost, nothing twice, told the same."""

import json
import os
import signal
import subprocess
import sys

import pytest
from build import (
    at,
    cancel,
    every,
    ignored,
    names,
    order,
    outcome,
    put,
    receipt,
    reject,
    settled,
    tick,
)
from pymongo import MongoClient

from state.admission import versions_of
from state.copying import copy, figures
from state.crashpoint import CRASH_AT, CopyPoint
from state.errors import StateError
from state.inspect import Filter
from state.memory import MemoryStore
from state.open import open_inspector, open_source, open_store, open_target
from state.pausing import Paused
from state.row import PARKED_ALONE
from state.settings import DAY, DeltaSettings, MongoSettings, StateSettings

SLOW = Paused(topics=frozenset({"slow"}))
EVERYTHING = Filter(kind=None)
NOW = at(50)


@pytest.fixture
def delta(tmp_path):
    return in_delta(tmp_path / "first")


@pytest.fixture
def mongo_state(mongo, database):
    return StateSettings(kind="mongo", mongo=MongoSettings(uri=mongo.uri, database=database))


def in_delta(path):
    return StateSettings(kind="delta", delta=DeltaSettings(path=str(path)))


def copied(there, here):
    """Copy, and return the figures that differ."""
    source, target = open_source(there), open_target(here, NOW)
    copy(source, target, NOW, lambda done, total: None)
    after = open_source(here)
    found = figures(source, after)
    for each in (source, target, after):
        each.close()
    return [figure for figure in found if figure.source != figure.target]


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


def rows(table):
    order = ["source_topic", "source_partition", "source_offset", "occurrence"]
    return table.sort_by([(name, "ascending") for name in order]).to_pylist()


def told(settings, now=12):
    """Return all that a state answers, whatever keeps it."""
    inspector, store = open_inspector(settings), open_store(settings)
    answers = (
        rows(inspector.rows(EVERYTHING)),
        inspector.stats(at(now)),
        rows(store.unsettled()),
        store.last_batch,
        store.paused,
        store.state_id,
        [rows(store.claims_of(batch)) for batch in range(7)],
        [names(store.commit(tick(batch))) for batch in (0, 5, 6)],
    )
    store.close()
    return answers


@pytest.fixture
def lived(delta):
    """Return a store in memory that has lived as the one in Delta tables has."""
    memory, store = MemoryStore(10_000 * DAY), open_store(delta)
    live(memory, store)
    store.close()
    return memory


def folded(settings, now=12):
    store = open_store(settings)
    store.fold(at(now))
    store.close()


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


def all_agree(memory, settings, steps):
    """Tell both the same, which touches everything that was copied; compare all they answer."""
    store, inspector = open_store(settings), open_inspector(settings)
    first = memory.last_batch + 1
    for batch, (commands, outcomes, until) in enumerate(steps, first):
        ended = Paused() if batch == first + 1 else None
        said = tick(batch, until, commands, outcomes, until=until, paused=ended)
        assert store.commit(said).to_pylist() == memory.commit(said).to_pylist()
    assert rows(inspector.rows(EVERYTHING)) == rows(memory.rows(EVERYTHING))
    assert inspector.stats(NOW) == memory.stats(NOW)
    assert rows(store.unsettled()) == rows(memory.unsettled())
    store.close()


@pytest.mark.parametrize("fold", [False, True], ids=["unfolded", "folded"])
def test_there_and_back_again_it_is_the_same_state(delta, mongo_state, lived, tmp_path, fold):
    if fold:
        folded(delta)
    back = in_delta(tmp_path / "second")
    assert copied(delta, mongo_state) == []
    assert copied(mongo_state, back) == []
    first = told(delta)
    assert first[0] == rows(lived.rows(EVERYTHING))
    assert told(mongo_state) == first
    assert told(back) == first


@pytest.mark.parametrize("fold", [False, True], ids=["unfolded", "folded"])
def test_a_job_goes_on_in_mongodb_as_if_nothing_had_been(delta, mongo_state, lived, fold):
    if fold:
        folded(delta)
    copied(delta, mongo_state)
    all_agree(lived, mongo_state, STEPS if fold else [*FORGOTTEN, *STEPS])


@pytest.mark.parametrize("fold", [False, True], ids=["as it came", "folded first"])
def test_a_job_goes_on_in_delta_tables_as_if_nothing_had_been(mongo_state, tmp_path, fold):
    memory, store = MemoryStore(10_000 * DAY), open_store(mongo_state)
    live(memory, store)
    store.close()
    back = in_delta(tmp_path / "second")
    assert copied(mongo_state, back) == []
    if fold:
        folded(back)
    all_agree(memory, back, [*FORGOTTEN, *STEPS])


def test_what_was_copied_can_be_folded_and_copied_again(delta, mongo_state, lived, tmp_path):
    second = in_delta(tmp_path / "second")
    copied(delta, mongo_state)
    copied(mongo_state, second)
    store = open_store(second)
    store.commit(tick(7, 12, [put(b"one more", 21, due=900)]))
    store.fold(at(13))
    store.fold(at(14))
    lived.commit(tick(7, 12, [put(b"one more", 21, due=900)]))
    store.close()
    assert rows(open_inspector(second).rows(EVERYTHING)) == rows(lived.rows(EVERYTHING))
    assert open_inspector(second).stats(NOW) == lived.stats(NOW)


def test_a_new_state_can_be_copied(delta, mongo_state, tmp_path):
    store = open_store(delta)
    name = store.state_id
    store.close()
    back = in_delta(tmp_path / "second")
    assert copied(delta, mongo_state) == []
    assert copied(mongo_state, back) == []
    store = open_store(back)
    assert (store.state_id, store.last_batch, store.next_due()) == (name, -1, None)
    assert names(store.commit(tick(0, commands=[put(b"a", 0, due=1)], until=2))) == [(b"a", 0)]
    store.close()


def test_what_is_due_is_claimed_after_a_copy_though_nothing_new_comes(delta, mongo_state):
    store = open_store(delta)
    store.commit(tick(0, commands=[put(bytes([n]), n, due=5) for n in range(20)]))
    store.close()
    copied(delta, mongo_state)
    store = open_store(mongo_state)
    assert store.next_due() == at(5)
    assert len(names(store.commit(tick(1, 6, until=6)))) == 20
    store.close()


def test_a_last_commit_of_mongodb_that_is_not_carried_out_is_in_the_copy(mongo_state, tmp_path):
    store = open_store(mongo_state)
    store._send = lambda parts: 0  # as if the process died right after its commit
    store.commit(tick(0, commands=[put(b"a", 0, due=1), put(b"b", 1, due=9)], until=2))
    store.close()
    back = in_delta(tmp_path / "second")
    assert copied(mongo_state, back) == []
    store = open_store(back)
    assert names(store.unsettled()) == [(b"a", 0)]
    assert names(store.commit(tick(1, 10, until=10))) == [(b"b", 1)]
    store.close()


# A copy that dies.

COPY = """
import sys
from state.copying import copy
from state.delta.receive import DeltaTarget
from state.mongo.receive import MongoTarget
from state.open import open_source, open_target
from state.settings import StateSettings
DeltaTarget.part_rows = MongoTarget.part_rows = 10
there, here = (StateSettings.model_validate_json(text) for text in sys.argv[1:3])
copy(open_source(there), open_target(here, 0), 0, lambda done, total: print(done, total))
"""


def plain(settings):
    if settings.kind == "delta":
        return json.dumps({"kind": "delta", "delta": {"path": settings.delta.path}})
    mongo = {"uri": settings.mongo.uri.get_secret_value(), "database": settings.mongo.database}
    return json.dumps({"kind": "mongo", "mongo": mongo})


def copy_apart(there, here, dies=None):
    """Copy in a process of its own; return the lines it wrote."""
    environment = os.environ | ({CRASH_AT: dies} if dies else {})
    done = subprocess.run(
        [sys.executable, "-c", COPY, plain(there), plain(here)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == (-signal.SIGKILL if dies else 0), done.stderr
    return done.stdout.split("\n")[:-1]


def many(settings, count=45):
    """Return a state with enough rows for some parts, two versions of each key."""
    store = open_store(settings)
    keys = [b"%d" % n for n in range(count)]
    store.commit(tick(0, commands=[put(key, n, due=n) for n, key in enumerate(keys)], until=9))
    newer = [put(key, 100 + n, due=100 + n) for n, key in enumerate(keys)]
    store.commit(tick(1, 1, newer, [outcome(b"3", 3, "done", **receipt())]))
    store.close()


@pytest.fixture(params=["to mongo", "to delta"])
def sides(request, delta, mongo_state):
    there, here = (delta, mongo_state) if request.param == "to mongo" else (mongo_state, delta)
    many(there)
    return there, here


@pytest.mark.parametrize("count", [1, 7])  # at the beginning; among closed rows
def test_a_copy_that_was_killed_goes_on_where_it_was(sides, count):
    there, here = sides
    copy_apart(there, here, f"{CopyPoint.DURING_COPY}:{count}")
    for open_it in (open_store, open_inspector):
        with pytest.raises(StateError, match=r"is not finished; run `duestream state copy` again"):
            open_it(here)
    lines = copy_apart(there, here)
    there_already = {1: ("0",), 7: ("60", "55")}[count]  # a part ends with its collection
    assert lines[0].split()[0] in there_already
    assert told(here) == told(there)


def test_a_copy_killed_before_the_source_moved_on_starts_over(sides):
    there, here = sides
    copy_apart(there, here, f"{CopyPoint.DURING_COPY}:3")
    store = open_store(there)
    store.commit(tick(2, 2, [cancel(b"%d" % n, 200 + n) for n in range(20)]))
    store.close()
    lines = copy_apart(there, here)
    assert lines[0].split()[0] == "0"
    assert told(here) == told(there)


def test_a_place_that_holds_a_state_is_refused(sides):
    there, here = sides
    store = open_store(here)
    name = store.state_id
    store.close()
    with pytest.raises(StateError, match=f"holds a state already .{name}.; .* set another state"):
        copied(there, here)
    assert told(here)[5] == name


def test_a_copy_is_not_copied_over(sides):
    there, here = sides
    copied(there, here)
    with pytest.raises(StateError, match="holds a state already"):
        copied(there, here)


def test_a_state_that_moves_while_it_is_copied_is_refused(sides):
    there, here = sides
    source, target = open_source(there), open_target(here, NOW)

    def told_once(done, total):
        if done == total:
            store = open_store(there)
            store.commit(tick(2, 2, [put(b"moving", 300, due=1)]))
            store.close()

    with pytest.raises(StateError, match="has changed while it was copied; stop the job"):
        copy(source, target, NOW, told_once)
    with pytest.raises(StateError, match="is not finished"):
        open_inspector(here)
    assert copied(there, here) == []


def test_nothing_is_there_to_be_copied(delta, mongo_state):
    with pytest.raises(StateError, match="no state at"):
        open_source(delta)
    with pytest.raises(StateError, match="no state in the database"):
        open_source(mongo_state)


def test_documents_of_somebody_else_are_not_touched(delta, mongo_state, mongo, database):
    many(delta)
    with MongoClient(mongo.uri) as client:
        client[database]["schedules"].insert_one({"_id": 1})
        with pytest.raises(StateError, match="holds documents that are no state"):
            copied(delta, mongo_state)
        assert client[database]["schedules"].count_documents({}) == 1


def test_files_of_somebody_else_are_not_touched(mongo_state, tmp_path):
    many(mongo_state)
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with pytest.raises(StateError, match=r"holds other things \(holiday\.jpg\)"):
        copied(mongo_state, in_delta(tmp_path))


def test_rows_are_read_in_parts_of_bounded_size(sides):
    there, _ = sides
    source = open_source(there)
    parts = list(source.parts(0, 7))
    assert parts[-1].upto == source.total()
    assert all(part.rows.num_rows <= 7 for part in parts)
    whole = [v for part in parts for v in versions_of(part.rows)]
    rest = [v for part in source.parts(11, 7) for v in versions_of(part.rows)]
    assert whole[11:] == rest
    assert len(whole) == 90
    source.close()


def test_figures_that_differ_are_told(delta, tmp_path):
    many(delta)
    other = in_delta(tmp_path / "second")
    many(other, count=44)
    found = {f.name for f in figures(open_source(delta), open_source(other)) if f[1] != f[2]}
    assert {"accepted", "rows pending", "state"} <= found
