"""A MongoDB that is away, slow or killed makes the store wait; nothing acknowledged is lost."""

import logging
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from build import at, carried_out, names, outcome, put, receipt, settled, tick

from pipeline.local_mongo import LocalMongo
from state.errors import StateError
from state.open import open_inspector, open_store
from state.settings import MongoSettings, StateSettings
from state.store import Store

PATIENCE = 120.0


@pytest.fixture(scope="module")
def server() -> Iterator[LocalMongo]:
    with LocalMongo() as mongo:
        yield mongo


@pytest.fixture
def settings(server: LocalMongo, request: pytest.FixtureRequest) -> StateSettings:
    name = request.node.name.replace("-", "_")[:50]
    return StateSettings(
        kind="mongo", mongo=MongoSettings(uri=server.uri, database=name, timeout="1s")
    )


@pytest.fixture
def store(server: LocalMongo, settings: StateSettings) -> Iterator[Store]:
    store = open_store(settings)
    yield store
    store.close()


def meanwhile(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def wait_for(condition: Callable[[], bool], what: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up, f"gave up waiting for {what}"
        time.sleep(0.05)


def test_a_commit_waits_for_a_killed_server_and_keeps_all_that_was_acknowledged(
    server: LocalMongo, store: Store, settings: StateSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    store.commit(tick(0, commands=[put(b"%d" % n, n, due=5) for n in range(500)], until=0))
    server.kill()
    claims: list[list[tuple[bytes, int]]] = []
    said = [put(b"later", 500, due=5)]
    waiting = meanwhile(lambda: claims.append(names(store.commit(tick(1, 1, said, until=5)))))
    wait_for(lambda: "cannot be used" in caplog.text, "the word of it")
    assert claims == []
    server.start()
    waiting.join(PATIENCE)
    assert sorted(claims[0]) == sorted([*((b"%d" % n, n) for n in range(500)), (b"later", 500)])
    assert "MongoDB is back after" in caplog.text
    assert open_inspector(settings).stats(at(1)).ledger.accepted == 501


def test_a_frozen_server_only_takes_longer(
    server: LocalMongo, store: Store, settings: StateSettings, caplog: pytest.LogCaptureFixture
) -> None:
    store.commit(tick(0, commands=[put(b"a", 0, due=5)], until=5))
    server.freeze()
    done = meanwhile(lambda: store.settle(settled(outcome(b"a", 0, "done", **receipt())), at(6)))
    wait_for(lambda: "cannot be used" in caplog.text, "the word of it")
    server.thaw()
    done.join(PATIENCE)
    ledger = open_inspector(settings).stats(at(6)).ledger
    assert (ledger.accepted, ledger.ends["done"], ledger.difference) == (1, 1, 0)


def test_kills_in_the_middle_of_many_commits_lose_and_repeat_nothing(
    server: LocalMongo, store: Store, settings: StateSettings
) -> None:
    claimed: list[tuple[bytes, int]] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for batch in range(150):
                said = [put(b"%d-%d" % (batch, n), 40 * batch + n, due=batch) for n in range(40)]
                claimed.extend(names(store.commit(tick(batch, batch, said, until=batch))))
        except BaseException as failure:
            failures.append(failure)

    thread = meanwhile(work)
    for number in range(4):
        wait_for(
            lambda number=number: len(claimed) > number * 1200 or not thread.is_alive(), "commits"
        )
        server.kill()
        server.start()
    thread.join(PATIENCE)
    assert failures == []
    assert len(claimed) == len(set(claimed)) == 6_000
    ledger = open_inspector(settings).stats(at(150)).ledger
    assert (ledger.accepted, ledger.ends["claimed"], ledger.difference) == (6_000, 6_000, 0)


def test_a_job_told_to_stop_does_not_wait_for_a_server_that_is_away(
    server: LocalMongo, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    store.commit(tick(0, commands=[put(b"a", 0, due=5)]))
    server.stop()
    told: list[str] = []

    def work() -> None:
        try:
            store.commit(tick(1, commands=[put(b"b", 1, due=5)]))
        except StateError as error:
            told.append(str(error))

    waiting = meanwhile(work)
    wait_for(lambda: "cannot be used" in caplog.text, "the word of it")
    store.give_up()
    waiting.join(PATIENCE)
    server.start()
    assert "nothing is lost" in told[0]


def test_a_server_that_dies_behind_a_commit_does_not_hold_up_the_end(
    server: LocalMongo, settings: StateSettings
) -> None:
    store = open_store(settings)
    rows = [put(b"%d" % n, n, due=5) for n in range(3)]
    carried_out(store, tick(0, commands=rows))
    send, killed = store._send, threading.Event()

    def too_late(parts: object) -> int:
        if not killed.is_set():
            server.kill()
            killed.set()
        return int(send(parts))

    store._send = too_late
    claims = names(store.commit(tick(1, 6, until=6)))
    assert killed.wait(PATIENCE)
    ending = meanwhile(store.close)
    ending.join(PATIENCE)
    assert not ending.is_alive()
    server.start()
    again = open_store(settings)
    assert names(again.unsettled()) == claims == [(b"0", 0), (b"1", 1), (b"2", 2)]
    again.close()
