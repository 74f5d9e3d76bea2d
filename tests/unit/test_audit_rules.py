"""What an audit says of ledgers, of rows, and of receipts and records."""

from dataclasses import dataclass, replace

import pyarrow as pa
import pytest

from pipeline.audit import audit_ledger
from pipeline.receipts import Found, Matching, Place, differences, fire_ids_of, receipts_of
from state.inspect import Filter, Ledger, Stats
from state.memory import MemoryStore
from state.row import Kind, Status
from tests.state.build import at, cancel, outcome, put, receipt, reject, tick

WEEK = 7 * 86_400_000_000


@pytest.fixture
def store() -> MemoryStore:
    """Return a state where messages have ended in every way there is without an expiry."""
    store = MemoryStore(WEEK)
    puts = [put(b"%d" % n, n, due=1) for n in range(4)]
    overtaken = put(b"busy", 9, due=100, superseded=3)
    store.commit(tick(0, 0, [*puts, overtaken, reject(10)], until=2))
    ends = [
        outcome(b"0", 0, "done", **receipt(0, 40)),
        outcome(b"1", 1, "done", **receipt(0, 41)),
        outcome(b"2", 2, "dead", reason="unknown_topic"),
        outcome(b"3", 3, "done", reason="receipt_unknown"),
    ]
    later = [put(b"gone", 11, due=100), put(b"stays", 12, due=100)]
    store.commit(tick(1, 3, later, ends))
    store.commit(tick(2, 4, [cancel(b"gone", 13), put(b"stays", 14, due=100)]))
    return store


@dataclass
class Doctored:
    """A state whose answers are not those of its store."""

    store: MemoryStore
    ledger: Ledger
    rows_shown: pa.Table

    def rows(self, where: Filter) -> pa.Table:
        return self.rows_shown

    def versions(self, key: bytes, source_topic: str | None = None) -> pa.Table:
        return self.store.versions(key, source_topic)

    def stats(self, now: int) -> Stats:
        return replace(self.store.stats(now), ledger=self.ledger)


def doctored(store: MemoryStore) -> Doctored:
    return Doctored(store, store.stats(at(5)).ledger, store.rows(Filter(kind=Kind.MESSAGE)))


def sentences(state: Doctored) -> list[str]:
    return list(audit_ledger(state, at(5))[0].differences())


def test_a_ledger_that_closes_has_no_differences(store: MemoryStore) -> None:
    audit, rows = audit_ledger(store, at(5))
    assert list(audit.differences()) == []
    assert audit.steady
    assert rows.num_rows == 8
    assert audit.kept[Status.PENDING] == 2


def test_messages_overtaken_within_a_batch_are_counted_and_never_rows(store: MemoryStore) -> None:
    audit, _ = audit_ledger(store, at(5))
    assert (audit.ledger.ends[Status.REPLACED], audit.kept[Status.REPLACED]) == (4, 1)
    assert audit.not_kept[Status.REPLACED] == 3


def test_forgotten_rows_are_only_counted(store: MemoryStore) -> None:
    store.maintain(at(5) + 2 * WEEK)
    audit, _ = audit_ledger(store, at(5))
    assert list(audit.differences()) == []
    assert (audit.kept[Status.DONE], audit.not_kept[Status.DONE]) == (0, 3)


def test_a_ledger_that_does_not_add_up_is_told_with_the_difference(store: MemoryStore) -> None:
    state = doctored(store)
    state.ledger = replace(state.ledger, accepted=state.ledger.accepted + 2)
    assert sentences(state) == ["13 were accepted and the ends add up to 11: 2 missing"]


def test_a_pending_row_that_is_not_there_is_told(store: MemoryStore) -> None:
    state = doctored(store)
    status = state.rows_shown.column("status").to_pylist()
    state.rows_shown = state.rows_shown.take([n for n, s in enumerate(status) if s != "pending"])
    assert sentences(state) == ["pending: the ledger says 2, the tables have 0 rows"]


def test_a_closed_row_that_was_never_counted_is_told(store: MemoryStore) -> None:
    state = doctored(store)
    ends = state.ledger.ends | {Status.DONE: 2, Status.REPLACED: 5}
    state.ledger = replace(state.ledger, ends=ends)
    assert sentences(state) == ["done: 3 rows are kept, and only 2 were counted"]


def test_a_record_in_two_rows_is_told(store: MemoryStore) -> None:
    state = doctored(store)
    state.rows_shown = pa.concat_tables([state.rows_shown, state.rows_shown.slice(0, 1)])
    assert "the record in, partition 0, offset 0 stands in two rows" in sentences(state)


def test_a_state_that_moves_meanwhile_is_not_accused(store: MemoryStore) -> None:
    class Moving(Doctored):
        def stats(self, now: int) -> Stats:
            ends = self.ledger.ends | {Status.PENDING: self.ledger.ends[Status.PENDING] + 1}
            self.ledger = replace(self.ledger, accepted=self.ledger.accepted + 1, ends=ends)
            return super().stats(now)

    given = doctored(store)
    audit, _ = audit_ledger(Moving(store, given.ledger, given.rows_shown), at(5))
    assert not audit.steady
    assert list(audit.differences()) == []


def on_topic(store: MemoryStore) -> list[Found]:
    receipts = receipts_of(store.rows(Filter(kind=Kind.MESSAGE)))
    return [Found(place, r.key, r.value, r.fire_id) for place, [r] in receipts.items()]


def matched(store: MemoryStore, records: list[Found], low: int = 0) -> Matching:
    rows = store.rows(Filter(kind=Kind.MESSAGE))
    matching = Matching(receipts_of(rows), fire_ids_of(rows))
    for record in records:
        matching.see(record)
    matching.finish({("out", 0): low})
    return matching


def told(matching: Matching, doubles_allowed: bool = False) -> list[str]:
    return list(differences(matching, doubles_allowed=doubles_allowed))


def test_every_receipt_finds_its_record(store: MemoryStore) -> None:
    matching = matched(store, on_topic(store))
    assert (matching.matched, told(matching)) == (2, [])


def test_a_receipt_without_a_record_is_told(store: MemoryStore) -> None:
    assert told(matched(store, on_topic(store)[:1])) == [
        "no record at out, partition 0, offset 41, where a receipt says it is"
    ]


def test_a_record_deleted_by_retention_is_no_difference(store: MemoryStore) -> None:
    matching = matched(store, on_topic(store)[1:], low=41)
    assert (matching.gone, told(matching)) == (1, [])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"key": b"x"}, "key"),
        ({"value": None}, "payload"),
        ({"key": None, "value": b""}, "key and payload"),
        ({"fire_id": "in-0-1-1800000001000000"}, "fire id"),
    ],
)
def test_a_record_that_is_another_is_told(
    store: MemoryStore, change: dict[str, bytes], what: str
) -> None:
    first, second = on_topic(store)
    changed = [first._replace(**change), second._replace(fire_id=None)]
    assert told(matched(store, changed)) == [
        f"the record at out, partition 0, offset 40 has another {what} than its row"
    ]


def test_a_value_in_its_envelope_is_the_payload_and_another_is_told(store: MemoryStore) -> None:
    first, second = on_topic(store)
    wrapped = first._replace(value=b"envelope", inside=first.value)
    assert told(matched(store, [wrapped, second._replace(inside=b"")])) == []
    assert told(matched(store, [wrapped._replace(inside=b"other"), second])) == [
        "the record at out, partition 0, offset 40 has another payload than its row"
    ]


def test_a_fire_id_that_no_row_has_is_told(store: MemoryStore) -> None:
    stray = Found(Place("out", 0, 50), b"k", b"v", "in-0-99-1800000001000000")
    foreign = stray._replace(fire_id="other-0-99-1800000001000000", needs_row=False)
    matching = matched(store, [*on_topic(store), stray, foreign])
    assert [record.fire_id for record in matching.strays] == [stray.fire_id]
    assert "has the fire id in-0-99-1800000001000000, and no row has it" in told(matching)[0]
    matching.forgive({"in-0-99-1800000001000000"})
    assert told(matching) == []


def test_a_message_published_twice_is_told_where_that_was_promised_not_to_happen(
    store: MemoryStore,
) -> None:
    records = on_topic(store)
    matching = matched(store, [*records, records[0]._replace(place=Place("out", 0, 42))])
    assert "was published 2 times" in told(matching)[0]
    assert told(matching, doubles_allowed=True) == []


def test_two_receipts_for_one_record_are_told(store: MemoryStore) -> None:
    rival = [put(b"rival", 20, due=5)]
    store.commit(tick(3, 5, rival, until=6))
    store.commit(tick(4, 6, outcomes=[outcome(b"rival", 20, "done", **receipt(0, 40))]))
    assert "2 receipts name one record, at out, partition 0, offset 40" in told(
        matched(store, on_topic_of_first(store))
    )


def on_topic_of_first(store: MemoryStore) -> list[Found]:
    receipts = receipts_of(store.rows(Filter(kind=Kind.MESSAGE)))
    return [Found(place, r[0].key, r[0].value, None) for place, r in receipts.items()]
