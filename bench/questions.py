"""What a console asks of a state, as the benchmark of pages asks it."""

from collections.abc import Callable
from typing import Any

from bench.made_state import AHEAD, DAY, HOUR
from bench.store import NOW
from pipeline.dead import dead_by_reason
from state.inspect import (
    Cursor,
    Filter,
    Inspector,
    Order,
    due_counts,
    history,
    lateness,
    page,
    pending_by_topic,
)
from state.row import LIVE, Status

SIZE = 50
MINUTE = 60_000_000
PENDING = [Status.PENDING]

Question = Callable[[Inspector], Any]


def _page(**where: Any) -> Question:
    return lambda inspector: page(inspector, Filter(**where), SIZE).rows.num_rows


def _middle(**where: Any) -> Question:
    after = Cursor(NOW + AHEAD // 2, 0, 0, 0, "", 0, where.get("order", Order.NEXT_DUE))
    return _page(after=after, **where)


def _closed(statuses: list[Status], **where: Any) -> Question:
    return _page(statuses=statuses, order=Order.LAST_CHANGED, **where)


QUESTIONS: dict[str, Question] = {
    "pending, first page": _page(statuses=PENDING),
    "pending, a page in the middle": _middle(statuses=PENDING),
    "pending, last due first": _page(statuses=PENDING, order=Order.LAST_DUE),
    "pending or claimed, first page": _page(statuses=LIVE),
    "one output topic of 20": _page(statuses=PENDING, output_topic="out-7"),
    "an output topic nothing waits for": _page(statuses=PENDING, output_topic="nowhere"),
    "a range of due": _page(statuses=PENDING, due_from=NOW + 9 * DAY, due_to=NOW + 10 * DAY),
    "a beginning of keys, 10 of them": _page(statuses=PENDING, key_prefix=b"order-000123"),
    "a beginning of all keys": _page(statuses=PENDING, key_prefix=b"order-"),
    "done, newest first": _closed([Status.DONE]),
    "dead of every kind, newest first": _closed([Status.DEAD], kind=None),
    "versions of a key": lambda i: history(i, b"order-0001001").num_rows,
    "... with payloads": lambda i: i.versions(b"order-0001001").num_rows,
    "stats": lambda i: i.stats(NOW),
    "pending by topic": lambda i: pending_by_topic(i).num_rows,
    "due in the next 6 h, by 5 min": lambda i: due_counts(i, NOW, NOW + 6 * HOUR, 5 * MINUTE),
    "lateness of the last hour": lambda i: lateness(i, NOW - HOUR).count,
    "dead by reason": lambda i: dead_by_reason(i).num_rows,
}
