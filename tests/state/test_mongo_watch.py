"""Lists of a state in MongoDB read what they show, and a process that watches it counts nothing."""

import pytest
from build import A, B, at, carried_out, every, names, outcome, put, receipt, tick
from promises_answers import Answers
from promises_moved import Moved
from promises_outcomes import Outcomes
from promises_pages import Pages
from promises_pausing import Pausing
from promises_repeats import Repeats
from pymongo import MongoClient
from subject import Subject

import state.mongo.key_ranges
import state.mongo.watcher
from state.claims import Room
from state.inspect import Filter, Order
from state.mongo.layout import META
from state.mongo.ways import ways
from state.open import open_inspector, open_store, open_watcher
from state.row import LIVE, Status
from state.settings import MongoSettings, StateSettings

MANY = 600
SHOWN = 10
LANES = 3


@pytest.fixture
def settings(mongo, database):
    return StateSettings(kind="mongo", mongo=MongoSettings(uri=mongo.uri, database=database))


@pytest.fixture
def db(mongo, database):
    with MongoClient(mongo.uri) as client:
        yield client[database]


@pytest.fixture
def store(settings):
    store = open_store(settings)
    yield store
    store.close()


class TestWatchedMongo(Answers, Pages, Outcomes, Repeats, Pausing, Moved):
    """One watcher lives through all that happens to a store."""

    @pytest.fixture
    def disturb(self):
        """Do nothing: that the writer opens its store anew is nothing to a watcher."""
        return lambda: None

    @pytest.fixture
    def subject(self, settings):
        watchers = []

        def inspector(store):
            if not watchers:
                watchers.append(open_watcher(settings))
            return watchers[0]

        subject = Subject(lambda: open_store(settings), inspector)
        yield subject
        subject.close()


@pytest.fixture
def large(store):
    """Many rows that are pending, and as many that are done."""
    puts = [
        put(b"%04d" % i, i, due=100 + i, output_topic=f"t{i % 2}", policy=_policy(i))
        for i in range(MANY)
    ]
    out = [put(b"out %04d" % i, MANY + i, due=1) for i in range(MANY)]
    room = Room((MANY,) * LANES)
    store.commit(tick(0, commands=puts))
    store.commit(tick(1, commands=out, until=5, limit=room))
    ends = [outcome(row["key"], row["source_offset"], "done", **receipt()) for row in out]
    store.commit(tick(2, now=3, outcomes=ends, limit=room))
    carried_out(store, tick(3, now=4, commands=[put(A, 9_000, due=9_000)], limit=room))
    return store


def _policy(i):
    return every(60, first=100 + i) if i == 5 else None


@pytest.mark.parametrize(
    "where",
    [
        Filter(statuses=[Status.PENDING]),
        Filter(statuses=[Status.PENDING], order=Order.LAST_DUE),
        Filter(statuses=[Status.PENDING], output_topic="t1"),
        Filter(statuses=[Status.PENDING], output_topic="nowhere", kind=None),
        Filter(statuses=[Status.PENDING], due_from=at(300), due_to=at(500)),
        Filter(statuses=[Status.PENDING], repeating=True),
        Filter(statuses=LIVE),
        Filter(statuses=[Status.DONE], order=Order.LAST_CHANGED),
        Filter(statuses=[Status.DONE, Status.DEAD], order=Order.LAST_CHANGED, kind=None),
        Filter(order=Order.LAST_CHANGED, statuses=[Status.DEAD]),
    ],
)
def test_a_list_reads_what_it_shows(settings, large, db, where):
    inspector = open_inspector(settings)
    last = inspector._last_commit()
    assert (last.is_carried_out, last.meta.lanes) == (True, LANES)
    for name in ("schedules", "versions"):
        for way in ways(where, last.meta):
            finder = inspector._finder(last)
            standing = finder._standing(name, way, None)
            limited = Filter(statuses=where.statuses, order=where.order, limit=SHOWN)
            told = finder._ordered(standing, name, way, limited).explain()["executionStats"]
            assert told["totalKeysExamined"] <= SHOWN + 2 * LANES + 10
            assert told["totalDocsExamined"] <= SHOWN


@pytest.mark.parametrize("few", [2_000, 1], ids=["by ranges", "in the order of release"])
def test_keys_are_found_by_how_they_begin(settings, store, monkeypatch, few):
    monkeypatch.setattr(state.mongo.key_ranges, "_FEW", few)
    keys = [b"a", b"ab", b"ab\0", b"ab\xff\xff", b"abc" * 9, b"b", b"a\xff", b"", b"ac"]
    store.commit(tick(0, commands=[put(key, i, due=50 + i) for i, key in enumerate(keys)]))
    store.commit(tick(1, commands=[put(b"ab", 20, due=99)]))
    inspector = open_inspector(settings)
    for prefix in (b"a", b"ab", b"ab\0", b"ab\xff", b"abcabc", b"b", b"\xff", b"nobody"):
        found = inspector.rows(Filter(key_prefix=prefix, statuses=LIVE, limit=9))
        expected = [key for key in [*keys, b"ab"] if key.startswith(prefix)]
        expected = expected if not b"ab".startswith(prefix) else _without_first(expected, b"ab")
        assert [key for key, _ in names(found)] == expected


def _without_first(keys, key):
    place = keys.index(key)
    return keys[:place] + keys[place + 1 :]


def test_what_the_last_commit_changes_is_seen_before_it_is_carried_out(settings, large, db):
    plain, watcher = open_inspector(settings), open_watcher(settings)
    carried_out(large, tick(4, now=5, commands=[put(B, 9_001, due=2, output_topic="t9")]))
    key = b"in\0" + B
    written = db["schedules"].find_one({"_id": key})
    db["schedules"].delete_one({"_id": key})  # as if it were yet to be written
    for inspector in (plain, watcher):
        assert not inspector._last_commit().is_carried_out
        [row] = inspector.rows(Filter(statuses=LIVE, limit=1)).to_pylist()
        assert row["key"] == B
        waits = {each.topic: each for each in inspector.waiting()}
        assert (waits["t9"].pending, waits["t9"].first_due) == (1, at(2))
        assert waits["t0"] == ("t0", MANY // 2, 0, at(100), at(100 + MANY - 2))
        assert inspector.stats(at(0)).next_due == at(2)
    db["schedules"].insert_one(written)
    assert watcher._last_commit().is_carried_out
    assert watcher.waiting() == plain.waiting()


def test_totals_nobody_kept_are_counted_when_the_job_comes_back(settings, large, db):
    """They are missing after a copy, and in a state of a version that did not keep them."""
    plain, watcher = open_inspector(settings), open_watcher(settings)
    large.close()
    db[META].update_one({}, {"$set": {"pending": None}})
    assert watcher.waiting() == plain.waiting()
    assert watcher.stats(at(0)) == plain.stats(at(0))
    again = open_store(settings)
    again.commit(tick(7, now=9, commands=[put(B, 9_001, due=2)], limit=Room((1,) * LANES)))
    [meta] = db[META].find()
    assert {each["topic"]: each["count"] for each in meta["pending"]} == {
        "t0": MANY // 2,
        "t1": MANY // 2,
        "out": 2,
    }
    again.close()


def test_a_watcher_counts_no_pending_rows(settings, large, monkeypatch):
    watcher, plain = open_watcher(settings), open_inspector(settings)
    expected = plain.stats(at(0)), plain.waiting()
    for name in ("stats", "waiting"):
        monkeypatch.setattr(state.mongo.watcher.MongoInspector, name, None)
    assert (watcher.stats(at(0)), watcher.waiting()) == expected


def test_a_state_without_the_indexes_of_lists_answers_too(settings, large, db):
    for name in ("schedules", "versions"):
        for index in ("pending by topic and due", "closed rows by status and age"):
            db[name].drop_index(index)
    watcher = open_watcher(settings)
    done = Filter(statuses=[Status.DONE], order=Order.LAST_CHANGED, limit=2)
    assert watcher.rows(done).num_rows == 2
    assert watcher.rows(Filter(statuses=LIVE, output_topic="t1", limit=3)).num_rows == 3
    assert [each.topic for each in watcher.waiting()] == ["out", "t0", "t1"]
