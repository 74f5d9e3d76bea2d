"""The MongoDB store keeps every promise, on a real server."""

import itertools
import os
import uuid

import pytest
from build import at, carried_out, every, names, outcome, put, receipt, settled, tick
from conformance import Conformance
from pymongo import MongoClient
from subject import Subject

import state.mongo.sending
import state.mongo.store
from pipeline.local_mongo import LocalMongo
from state.claims import Room
from state.crashpoint import Point
from state.errors import StateError
from state.memory import MemoryStore
from state.mongo.due import due_rows, least_due
from state.mongo.journal import read_journal
from state.open import make_state, open_inspector, open_source, open_store
from state.settings import DAY, MongoSettings, StateSettings


@pytest.fixture
def settings(mongo, database):
    return StateSettings(kind="mongo", mongo=MongoSettings(uri=mongo.uri, database=database))


@pytest.fixture
def db(mongo, database):
    with MongoClient(mongo.uri) as client:
        yield client[database]


@pytest.fixture
def opened(settings):
    stores = []

    def open_one(**more):
        stores.append(open_store(with_mongo(settings, **more)))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


def with_mongo(settings, **more):
    return settings.model_copy(update={"mongo": settings.mongo.model_copy(update=more)})


class TestMongoStore(Conformance):
    @pytest.fixture(params=["undisturbed", "reopened"])
    def disturb(self, request, subject):
        return subject.reopen if request.param == "reopened" else lambda: None

    @pytest.fixture
    def subject(self, settings):
        subject = Subject(lambda: open_store(settings), lambda store: open_inspector(settings))
        yield subject
        subject.close()


@pytest.fixture(scope="module")
def another_server():
    with LocalMongo(engine="secantus") as server:
        yield server


class TestOnAnotherEngine(Conformance):
    """The same on a server that others wrote: nothing may hang on the quirks of one engine."""

    @pytest.fixture
    def disturb(self, subject):
        return subject.reopen

    @pytest.fixture
    def subject(self, another_server):
        mongo = MongoSettings(uri=another_server.uri, database=f"test_{uuid.uuid4().hex[:12]}")
        settings = StateSettings(kind="mongo", mongo=mongo)
        subject = Subject(lambda: open_store(settings), lambda store: open_inspector(settings))
        yield subject
        subject.close()


class Killed(Exception):
    """Stands for a process that is gone."""


def kill_at(monkeypatch, wanted, times=1):
    reached = itertools.count(1)

    def perhaps(point):
        if point is wanted and next(reached) == times:
            raise Killed

    monkeypatch.setattr(state.mongo.store, "reach", perhaps)
    monkeypatch.setattr(state.mongo.sending, "reach", perhaps)


def many(count, first=0, due=5.0):
    return [put(b"%d" % n, n, due=due + n / 1000) for n in range(first, first + count)]


# --- a commit that a crash cuts short


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_commit_cut_short_while_it_is_carried_out_is_finished_by_the_next_life(
    opened, settings, monkeypatch, times
):
    store = opened(batch_rows=3)
    carried_out(store, tick(0, commands=many(12)))
    expected = MemoryStore(DAY)
    expected.commit(tick(0, commands=many(12)))
    said = {"commands": many(8, first=20, due=0), "until": 5.004}
    kill_at(monkeypatch, Point.DURING_APPLY, times)
    with pytest.raises(Killed):
        carried_out(store, tick(1, now=1, **said))
    seen_before = open_inspector(settings).stats(at(1)).ledger
    monkeypatch.undo()
    again = opened()
    claims = again.commit(tick(1, now=1, **said))
    assert claims.to_pylist() == expected.commit(tick(1, now=1, **said)).to_pylist()
    assert again.unsettled().to_pylist() == expected.unsettled().to_pylist()
    assert open_inspector(settings).stats(at(1)).ledger == expected.stats(at(1)).ledger
    assert seen_before == expected.stats(at(1)).ledger


@pytest.mark.parametrize("times", [1, 2, 3, 4, 5])
def test_a_crash_between_any_two_writes_neither_skips_nor_doubles_an_occurrence(
    opened, settings, monkeypatch, times
):
    store, expected = opened(batch_rows=1), MemoryStore(DAY)
    first = [put(key, n, due=5, policy=every(1, first=5)) for n, key in enumerate([b"a", b"b"])]
    for each in (store, expected):
        carried_out(each, tick(0, commands=first))
    kill_at(monkeypatch, Point.DURING_APPLY, times)
    with pytest.raises(Killed):
        carried_out(store, tick(1, 6, until=6))
    monkeypatch.undo()
    again = opened(batch_rows=1)
    for batch in (1, 2):
        said = tick(batch, 6 + batch, until=6 + batch)
        claims = again.commit(tick(1, 6, until=6) if batch == 1 else said)
        wanted = expected.commit(tick(1, 6, until=6) if batch == 1 else said)
        assert claims.to_pylist() == wanted.to_pylist()
    figures = open_inspector(settings).stats(at(8))
    assert figures == expected.stats(at(8))
    assert figures.ledger.ends["claimed"] == 8


def test_a_commit_that_is_only_in_the_journal_never_was(opened, settings, monkeypatch):
    store = opened()
    carried_out(store, tick(0, commands=many(3)))
    kill_at(monkeypatch, Point.DURING_COMMIT)
    with pytest.raises(Killed):
        store.commit(tick(1, commands=many(3, first=5), until=100))
    monkeypatch.undo()
    again = opened()
    assert again.last_batch == 0
    assert again.unsettled().num_rows == 0
    assert open_inspector(settings).stats(at(0)).ledger.accepted == 3
    # Planned again it may be another batch: what it claims now is what counts.
    assert names(again.commit(tick(1, commands=many(3, first=5), until=5.001))) == [
        (b"0", 0),
        (b"1", 1),
    ]


def test_a_batch_replayed_after_its_commit_claims_nothing_more(opened, monkeypatch):
    """Rows added on replay would count as published: the lane's marker may name the batch."""
    store = opened()
    carried_out(store, tick(0, commands=many(4, due=5)))
    kill_at(monkeypatch, Point.DURING_APPLY)
    with pytest.raises(Killed):
        carried_out(store, tick(1, until=5.001))
    monkeypatch.undo()
    again = opened()
    assert names(again.commit(tick(1, until=100))) == [(b"0", 0), (b"1", 1)]
    assert names(again.claims_of(1)) == [(b"0", 0), (b"1", 1)]
    assert names(again.commit(tick(2, until=100))) == [(b"2", 2), (b"3", 3)]


def test_the_changes_of_a_commit_sent_again_change_nothing_and_are_counted(opened, db):
    store = opened()
    store.commit(tick(0, commands=many(5), until=5.001))
    first = db["journal"].find_one({"seq": 1})["token"]
    store.settle(settled(outcome(b"0", 0, "done", **receipt())), at(9))
    store.unsettled()
    before = list(db["schedules"].find())
    parts = read_journal(db, first)
    assert state.mongo.sending.carry_out(db, parts) == 5
    assert list(db["schedules"].find()) == before


def test_an_outcome_of_a_displaced_version_does_not_hold_up_the_newer_one(opened):
    store = opened()
    store.commit(tick(0, commands=[put(b"a", 0, due=1)], until=1))
    store.commit(tick(1, commands=[put(b"a", 1, due=2)]))
    ended = [outcome(b"a", 0, "done", **receipt())]
    assert names(store.commit(tick(2, outcomes=ended, until=5))) == [(b"a", 1)]


def test_an_outcome_of_a_version_nobody_knows_does_not_hold_up_the_one_that_is_pending(opened):
    store = opened()
    store.commit(tick(0, commands=[put(b"a", 0, due=1)]))
    unknown = [outcome(b"a", 7, "done", **receipt())]
    assert names(store.commit(tick(1, outcomes=unknown, until=5))) == [(b"a", 0)]


def test_rows_whose_division_into_lanes_was_cut_short_are_found(opened, db):
    store = opened()
    store.commit(tick(0, commands=many(4), limit=Room((1, 1))))
    store.close()
    db["meta"].update_one({}, {"$set": {"lanes": 0}})
    db["schedules"].update_many({}, {"$set": {"lane": 5}})
    again = opened()
    assert again.next_due() <= at(5)
    assert len(again.commit(tick(1, until=100, limit=Room((9, 9))))) == 4


# --- one writer


def test_the_first_of_two_jobs_is_refused_once_the_second_has_written(opened):
    first, second = opened(), opened()
    first.commit(tick(0, commands=many(2)))
    with pytest.raises(StateError, match=r"another job writes .* state\.mongo\.database"):
        second.commit(tick(0, commands=many(3)))
    third = opened()
    third.commit(tick(1, commands=many(2, first=7)))
    with pytest.raises(StateError, match="another job writes"):
        first.commit(tick(1, commands=many(1, first=9)))
    assert opened().last_batch == 1


def test_a_reader_beside_the_job_does_not_take_the_state_over(opened, settings):
    store = opened()
    store.commit(tick(0, commands=many(2)))
    assert opened().last_batch == 0
    assert open_inspector(settings).stats(at(0)).ledger.accepted == 2
    assert names(store.commit(tick(1, until=100))) == [(b"0", 0), (b"1", 1)]


# --- what a question costs


def test_a_due_query_reads_what_it_returns_and_nothing_else(opened, db, monkeypatch):
    store = opened()
    carried_out(store, tick(0, commands=many(3_000, due=5), limit=Room((1, 1))))
    asked = []
    find = type(db["schedules"]).find

    def remembering(collection, *args, **kwargs):
        found = find(collection, *args, **kwargs)
        asked.append(found.clone())
        return found

    monkeypatch.setattr(type(db["schedules"]), "find", remembering)
    found = list(due_rows(db, ["schedules"], at(5.5), Room((40, 60)), besides=0))
    assert len(found) == 100
    assert least_due(db, ["schedules"], 2) == at(5)
    monkeypatch.undo()
    plans = [cursor.explain() for cursor in asked]
    for plan in plans[:2]:
        assert _stages(plan["queryPlanner"]["winningPlan"]) >= {"IXSCAN", "FETCH"}
        assert "COLLSCAN" not in _stages(plan["queryPlanner"]["winningPlan"])
        assert "SORT" not in _stages(plan["queryPlanner"]["winningPlan"])
        ran = plan["executionStats"]
        assert ran["totalDocsExamined"] == ran["nReturned"]
        assert ran["totalKeysExamined"] <= ran["nReturned"] + 1


def _stages(plan):
    inner = [plan[name] for name in ("inputStage", "queryPlan") if name in plan]
    return {plan.get("stage")}.union(*(_stages(each) for each in inner)) - {None}


# --- content, age, access


def test_a_row_of_almost_sixteen_megabytes_is_kept_and_a_larger_one_never_comes(opened, settings):
    store = opened()
    large = os.urandom(settings.largest_row - 200)
    store.commit(tick(0, commands=[put(b"a", 0, due=1, payload=large)]))
    assert store.commit(tick(1, until=5)).column("payload")[0].as_py() == large
    store.settle(settled(outcome(b"a", 0, "pending", due=2)), at(1))
    assert opened().commit(tick(2, until=5)).column("payload")[0].as_py() == large


def test_many_long_keys_in_one_batch_are_asked_for_in_parts(opened):
    store = opened()
    keys = [b"%05d" % n + b"k" * 20_000 for n in range(1_000)]
    store.commit(tick(0, commands=[put(key, n, due=5) for n, key in enumerate(keys)]))
    again = [put(key, 1_000 + n, due=5) for n, key in enumerate(keys)]
    assert len(store.commit(tick(1, commands=again, until=5))) == 1_000


def test_rows_closed_long_ago_are_forgotten_and_the_ledger_still_closes(opened, settings):
    store = opened()
    store.commit(tick(0, commands=[put(b"a", 0, due=1), put(b"b", 1, due=9)], until=1))
    store.commit(tick(1, 2, commands=[put(b"b", 2, due=9)], outcomes=[outcome(b"a", 0, "done")]))
    store.commit(tick(2, 2, commands=[put(b"c", 3, due=9)]))
    inspector = open_inspector(settings)
    store.maintain(at(3))
    store._purge.wait()
    assert inspector.versions(b"a").num_rows == 1
    store.maintain(at(3) + settings.keep_closed)
    store._purge.wait()
    assert inspector.versions(b"a").num_rows == 0
    assert names(inspector.versions(b"b")) == [(b"b", 2)]
    assert inspector.stats(at(3)).ledger.difference == 0


def test_lanes_may_change_from_one_batch_to_the_next(opened):
    store = opened()
    store.commit(tick(0, commands=many(20), limit=Room((0, 0))))
    first = names(store.commit(tick(1, until=100, limit=Room((2, 2, 2)))))
    rest = names(opened().commit(tick(2, until=100, limit=Room((100,)))))
    assert len(first) == 6
    assert sorted(first + rest) == sorted((b"%d" % n, n) for n in range(20))


def test_a_server_that_is_not_there_is_told_in_a_sentence_without_the_password():
    uri = "mongodb://me:secret@127.0.0.1:1/?directConnection=true"
    nowhere = StateSettings(kind="mongo", mongo=MongoSettings(uri=uri, timeout="200ms"))
    for open_it in (open_store, open_inspector, make_state, open_source):
        with pytest.raises(StateError, match=r"127\.0\.0\.1:1 cannot be used .*state\.mongo\.uri"):
            open_it(nowhere)
    assert "secret" not in repr(nowhere)


@pytest.mark.parametrize("uri", ["nonsense", "mongodb://", "mongodb://host:notaport"])
def test_an_address_that_is_none_is_told_in_a_sentence(uri):
    wrong = StateSettings(kind="mongo", mongo=MongoSettings(uri=uri))
    with pytest.raises(StateError, match=r"state\.mongo\.uri is not an address"):
        open_store(wrong)


def test_looking_into_a_database_without_a_state_says_how_to_make_one(settings):
    with pytest.raises(StateError, match="duestream state init"):
        open_inspector(settings)
