"""What an import says to a store that knows some of it already."""

from typing import Any

import pyarrow as pa

from pipeline.migrate.importing import take_all
from state.memory import MemoryStore
from state.row import COMMANDS, DUE
from state.settings import DAY
from tests.state.build import at, cancel, put

HOUR = 3_600


def taken(*tables: list[dict[str, Any]]) -> MemoryStore:
    store = MemoryStore(DAY)
    made = (pa.Table.from_pylist(table, schema=COMMANDS) for table in tables)
    assert list(take_all(store, made, lanes=2)) == [len(table) for table in tables]
    return store


def statuses(store: MemoryStore) -> dict[bytes, str]:
    rows = [store.versions(key).to_pylist() for key in (b"a", b"b", b"c")]
    return {row["key"]: row["status"] for versions in rows for row in versions}


def mark(key: bytes, offset: int, written: float) -> dict[str, Any]:
    return cancel(key, offset) | {DUE: at(written)}


def test_a_cancel_ends_what_is_pending_and_one_of_nothing_is_not_said() -> None:
    store = taken(
        [put(b"a", 0, due=HOUR), put(b"b", 1, due=HOUR)], [cancel(b"a", 2), cancel(b"c", 3)]
    )
    assert statuses(store) == {b"a": "cancelled", b"b": "pending"}
    assert store.stats(at(0)).ledger.late_cancels == 0


def test_a_mark_ends_what_was_due_when_it_was_written_and_nothing_later() -> None:
    puts = [put(b"a", 0, due=10), put(b"b", 1, due=HOUR), put(b"c", 2, due=30)]
    store = taken(puts, [mark(b"a", 3, 11), mark(b"b", 4, 11), mark(b"c", 5, 11)])
    # The clocks of two machines differ: c was due, for the one that sent it.
    assert statuses(store) == {b"a": "cancelled", b"b": "pending", b"c": "cancelled"}


def test_the_same_again_changes_nothing() -> None:
    tables = [put(b"a", 0, due=10), put(b"b", 1, due=HOUR)], [cancel(b"a", 2)]
    once, twice = taken(*tables), taken(*tables, *tables)
    assert statuses(twice) == statuses(once) == {b"a": "cancelled", b"b": "pending"}
    assert twice.stats(at(0)).ledger == once.stats(at(0)).ledger
