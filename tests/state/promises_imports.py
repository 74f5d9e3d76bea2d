"""Commands may be taken outside of the batches, as an import does."""

from typing import Any

import pyarrow as pa
from build import A, B, C, at, cancel, put

from state.row import COMMANDS


def take(
    subject, *commands: dict[str, Any], upto: int | None = None, now: float = 0, lanes: int = 2
) -> None:
    marks = {} if upto is None else {"in": {"0": upto}}
    subject.store.take(pa.Table.from_pylist(list(commands), schema=COMMANDS), marks, at(now), lanes)
    assert subject.stats().ledger.difference == 0


class Imports:
    """Commands may be taken outside of the batches, as an import does."""

    def test_what_is_taken_outside_of_a_batch_is_pending_and_the_batches_begin_at_0(
        self, subject, disturb
    ):
        take(subject, put(A, 0, due=-5), put(B, 1, due=5))
        disturb()
        assert (subject.store.last_batch, subject.store.unsettled().num_rows) == (-1, 0)
        assert subject.store.next_due() <= at(-5)
        take(subject, put(A, 0, due=-5), put(B, 1, due=5), put(C, 2, due=9), upto=4)
        disturb()
        take(subject, put(A, 0, due=-5), put(C, 2, due=9), upto=4)
        disturb()
        assert subject.ends() == {"pending": 3}
        again = [put(A, 0, due=-5), cancel(C, 3), put(B, 4, due=7), put(b"d", 5, due=1)]
        assert subject.commit(0, commands=again, until=5) == [(A, 0), (b"d", 5), (B, 1)]
        disturb()
        assert subject.ends() == {"claimed": 3, "pending": 1}
        assert subject.stats().ledger.accepted == 4

    def test_what_is_taken_between_two_batches_replaces_and_cancels(self, subject, disturb):
        first = [put(k, n, due=9) for n, k in enumerate((A, B, C))]
        subject.commit(7, commands=first)
        disturb()
        take(subject, put(A, 3, due=1), cancel(B, 4))
        disturb()
        assert subject.store.last_batch == 7
        assert subject.commit(7) == []
        assert subject.ends() == {"pending": 2, "replaced": 1, "cancelled": 1}
        assert subject.commit(8, until=5) == [(A, 3)]
