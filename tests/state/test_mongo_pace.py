"""MongoDB claims in parts, and begins early where much falls due at once."""

import pytest
from build import at, carried_out, every, names, numbers, outcome, put, receipt, tick
from pymongo import MongoClient

import state.mongo.ahead
from state.claims import Room
from state.mongo.due import due_of
from state.mongo.pace import Pace
from state.open import open_inspector, open_store
from state.pausing import Paused

SECOND = 1_000_000


class Given(Pace):
    """A pace that a test decides on: rows in a part, and seconds for each row ahead of time."""

    def __init__(self, part: int, row: float = 0.0) -> None:
        super().__init__()
        self._part = part
        self._row = row

    def part(self, besides: int) -> int:
        return max(self._part, besides)

    def lead(self, rows: int) -> int:
        return int(rows * self._row * SECOND)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Have a handful of rows count as many."""
    monkeypatch.setattr(state.mongo.ahead, "_COUNTS", (4, 8, 16))


@pytest.fixture
def paced(mongo_store):
    """Return the store with rows that are pending, at a pace."""

    def begin(rows, lanes=1, **pace):
        carried_out(mongo_store, tick(0, commands=rows, limit=Room((0,) * lanes)))
        mongo_store._pace = Given(**pace)
        return mongo_store

    return begin


def rows(count, due, apart=0.0, first=0, **more):
    return [
        put(b"%d" % n, n, due + apart * (n - first), **more) for n in range(first, first + count)
    ]


def offsets(claims):
    return [offset for _, offset in names(claims)]


def test_a_backlog_is_claimed_in_parts_the_oldest_first_and_completely(paced):
    store = paced(rows(10, due=20, apart=-1), part=4)
    said = {"now": 30, "until": 34, "may_until": 60}
    assert offsets(store.commit(tick(1, **said))) == [9, 8, 7, 6]
    assert offsets(store.commit(tick(2, **said))) == [5, 4, 3, 2]
    assert offsets(store.commit(tick(3, **said))) == [1, 0]
    assert offsets(store.commit(tick(4, **said))) == []
    assert store.last_batch == 3


def test_where_no_commit_follows_all_of_it_is_claimed_at_once(paced):
    store = paced(rows(10, due=1), part=4)
    assert len(store.commit(tick(1, now=30, until=30))) == 10


def test_a_part_that_is_replayed_is_the_same_at_any_pace(paced, mongo_state):
    store = paced(rows(10, due=1, apart=0.1), part=4)
    said = tick(1, now=30, until=30, may_until=60)
    made = store.commit(said).to_pylist()
    store._pace = Given(part=9)
    assert store.commit(said).to_pylist() == made
    again = open_store(mongo_state)
    assert again.commit(said).to_pylist() == made
    again.close()


def test_each_lane_has_its_share_of_a_part(paced):
    store = paced(rows(40, due=1, apart=0.1), lanes=2, part=6)
    claims = store.commit(tick(1, 30, until=30, may_until=60, limit=Room((100, 100))))
    lanes = [number % 2 for number in claims.column("hash").to_pylist()]
    assert sorted(lanes) == [0, 0, 0, 1, 1, 1]
    full = store.commit(tick(2, 30, until=30, may_until=60, limit=Room((0, 100))))
    assert {number % 2 for number in full.column("hash").to_pylist()} == {1}
    assert full.num_rows == 6


def test_a_quota_holds_within_a_part(paced):
    slow = rows(8, due=1, output_topic="slow")
    store = paced([*slow, *rows(8, due=2, first=8)], part=6)
    room = Room((100,), backlog_before=at(5), quotas={"slow": 2})
    claims = store.commit(tick(1, 30, until=30, may_until=60, limit=room))
    assert offsets(claims) == [0, 1, 8, 9, 10, 11]


def test_a_backlog_with_a_large_quota_leaves_half_of_a_part_to_others(paced):
    slow = rows(20, due=1, output_topic="slow")
    store = paced([*slow, *rows(8, due=29, first=20)], part=6)
    room = Room((100,), backlog_before=at(5), quotas={"slow": 20})
    claims = store.commit(tick(1, 30, until=30, may_until=60, limit=room))
    assert offsets(claims) == [0, 1, 2, 20, 21, 22]


def test_what_comes_in_later_and_is_due_before_what_is_begun_is_claimed_at_once(paced):
    store = paced(rows(9, due=20, apart=0.125), part=4, row=1.5)
    for number in (1, 2, 3):
        store.commit(tick(number, now=9.0, until=13.0, may_until=30))
    late = [put(b"late", 50, 15)]
    claims = store.commit(tick(4, now=9.5, until=13.5, may_until=30, commands=late))
    assert offsets(claims) == [50]


def test_a_backlog_with_a_quota_does_not_have_others_claimed_early(paced):
    slow = rows(20, due=1, output_topic="slow")
    store = paced([*slow, *rows(6, due=45, apart=1, first=20)], part=6, row=0.1)
    room = Room((100,), backlog_before=at(5), quotas={"slow": 0})
    assert offsets(store.commit(tick(1, 30, until=34, may_until=60, limit=room))) == []


def test_what_would_take_too_long_is_begun_before_its_time(paced):
    store = paced(rows(9, due=20, apart=0.125), part=4, row=1.5)
    said = {"may_until": 30}
    assert offsets(store.commit(tick(1, now=8.5, until=12.5, **said))) == []
    assert offsets(store.commit(tick(2, now=9.0, until=13.0, **said))) == [0, 1, 2, 3]
    assert offsets(store.commit(tick(3, now=9.5, until=13.5, **said))) == [4, 5, 6, 7]
    assert offsets(store.commit(tick(4, now=10, until=14, **said))) == []
    assert offsets(store.commit(tick(5, now=17, until=21, **said))) == [8]


def test_what_can_be_claimed_at_its_time_is_not_begun_before(paced):
    store = paced(rows(9, due=20), part=100, row=0.4)
    for batch, now in enumerate(range(16), 1):
        said = tick(batch, now=now, until=now + 3.9, may_until=now + 30)
        assert store.commit(said).num_rows == 0
    assert store.last_batch == 0  # nothing was written


def test_it_is_begun_no_earlier_than_allowed(paced):
    store = paced(rows(9, due=20), part=4, row=100)
    assert store.commit(tick(1, now=1, until=5, may_until=19.999)).num_rows == 0
    assert store.commit(tick(2, now=2, until=6, may_until=20)).num_rows == 4


def test_after_a_clock_that_stepped_back_nothing_is_claimed_early_whatever_was_begun(paced):
    store = paced(rows(9, due=20), part=4, row=100)
    assert store.commit(tick(1, now=10, until=14, may_until=40)).num_rows == 4
    assert store.commit(tick(2, now=5, until=5, may_until=5)).num_rows == 0
    assert store.commit(tick(3, now=10, until=14, may_until=40)).num_rows == 4


def test_what_is_due_sooner_is_claimed_before_what_is_begun_early(paced):
    store = paced(rows(20, due=20), part=4, row=2)
    store.commit(tick(1, now=2, until=6, may_until=30))
    sooner = [put(b"new", 50, due=9)]
    claims = store.commit(tick(2, now=3, commands=sooner, until=7, may_until=30))
    assert offsets(claims) == [50, 4, 5, 6]


def test_an_outbox_that_fills_keeps_room_for_what_is_due_sooner(paced):
    store = paced(rows(20, due=20), part=4, row=2)
    assert store.commit(tick(1, 2, until=6, may_until=30, limit=7)).num_rows == 0
    assert store.commit(tick(2, 2, until=6, may_until=30, limit=8)).num_rows == 4


def test_a_message_begun_early_can_be_replaced(paced, mongo_state):
    store = paced(rows(8, due=20), part=4, row=2)
    store.commit(tick(1, 12, until=16, may_until=40))
    back = [outcome(b"0", 0, "replaced")]
    newer = [put(b"0", 60, due=21)]
    claims = store.commit(tick(2, 13, commands=newer, outcomes=back, until=17, may_until=40))
    assert offsets(claims) == [4, 5, 6, 7]
    assert open_inspector(mongo_state).stats(at(13)).ledger.difference == 0
    ends = [outcome(b"%d" % n, n, "done", **receipt()) for n in range(1, 8)]
    assert offsets(store.commit(tick(3, 19, outcomes=ends, until=23, may_until=49))) == [60]


def test_what_is_paused_is_held_back_part_by_part(paced):
    store = paced(rows(8, due=20), part=4, row=2)
    all_of_it = Paused(everything=True)
    for batch in (1, 2, 3):
        said = tick(batch, 12, until=16, may_until=40, paused=all_of_it)
        assert store.commit(said).num_rows == 0
    assert store.next_due() is None
    claimed = []
    for batch in (4, 5, 6):
        said = tick(batch, 30, until=34, may_until=60, paused=Paused())
        claimed += offsets(store.commit(said))
    assert sorted(claimed) == list(range(8))


def test_a_series_among_what_is_begun_early_goes_on(paced):
    series = put(b"s", 90, due=20, policy=every(1, first=20, count=3))
    store = paced([*rows(8, due=20), series], part=4, row=2)
    found = []
    for batch, now in enumerate(range(5, 30), 1):
        said = tick(batch, now, until=now + 4, may_until=now + 30)
        found += numbers(store.commit(said))
    assert sorted(found) == sorted(
        [*((b"%d" % n, 0) for n in range(8)), *((b"s", n) for n in range(3))]
    )


def test_a_look_ahead_reads_as_many_keys_as_it_counts(paced, mongo, database, monkeypatch):
    paced(rows(300, due=20, apart=0.01), lanes=2, part=4)
    with MongoClient(mongo.uri) as client:
        db = client[database]
        asked = []
        find = type(db["schedules"]).find

        def remembering(collection, *args, **kwargs):
            found = find(collection, *args, **kwargs)
            asked.append(found.clone())
            return found

        monkeypatch.setattr(type(db["schedules"]), "find", remembering)
        assert due_of(db, ["schedules"], 2, at(0), at(60), 100) == at(20.99)
        assert due_of(db, ["schedules"], 2, at(20), at(60), 100) == at(21)
        assert due_of(db, ["schedules"], 2, at(0), at(60), 301) == at(60)
        assert due_of(db, ["schedules"], 2, at(0), at(20.5), 100) == at(20.5)
        monkeypatch.undo()
        ran = asked[0].explain()["executionStats"]
    assert ran["totalDocsExamined"] == 0
    assert ran["totalKeysExamined"] <= 100 + 2
