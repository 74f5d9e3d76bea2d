"""Headers that say how late a message came, and which of a series it is."""

import pytest
from flushes import NOW, SECOND, flush_of

from pipeline.outbox.lane import Flush
from pipeline.outbox.marks import Marks
from pipeline.outbox.record import Record
from pipeline.outbox.records import Shape
from state.row import Kind

LATE_MARKS = Marks(late_after=10 * SECOND)
SERIES = '{"expires":5,"series":true}'


def shape(marks: Marks = LATE_MARKS) -> Shape:
    return Shape("dead", "internal", "markers", False, "state", marks=marks)


def marks_of(flush: Flush, now: int = NOW, marks: Marks = LATE_MARKS) -> list:
    return [record.headers for record in map(Record._make, shape(marks).messages(flush, now))]


@pytest.mark.parametrize(
    ("late", "headers"),
    [
        (0, None),
        (10 * SECOND, None),
        (10 * SECOND + 1, [("duestream-late-ms", b"10000")]),
        (3600 * SECOND + 999, [("duestream-late-ms", b"3600000")]),
    ],
)
def test_a_message_later_than_the_bound_says_by_how_much(late: int, headers: list | None) -> None:
    assert marks_of(flush_of(b"k"), NOW + late) == [headers]


def test_only_those_are_marked_that_are_late() -> None:
    flush = flush_of(b"a", b"b", due=[NOW - 11 * SECOND, NOW])
    assert marks_of(flush) == [[("duestream-late-ms", b"11000")], None]


def test_none_is_marked_where_none_counts_as_late() -> None:
    assert marks_of(flush_of(b"k", due=[0]), marks=Marks(None)) == [None]


def test_a_message_tried_again_is_as_late_as_since_the_instant_asked_for() -> None:
    flush = flush_of(b"a", b"b", due=[NOW, NOW], scheduled=[NOW - 60 * SECOND, NOW])
    assert marks_of(flush) == [[("duestream-late-ms", b"60000")], None]


def test_the_mark_stands_in_place_of_an_older_one() -> None:
    flush = flush_of(b"k", due=[0], headers=[[{"key": "duestream-late-ms", "value": b"7"}]])
    assert marks_of(flush, 20 * SECOND) == [[("duestream-late-ms", b"20000")]]


def test_a_mark_comes_after_the_headers_a_message_has() -> None:
    given = [[{"key": "a", "value": b"1"}], None, None]
    flush = flush_of(b"x", b"y", b"z", due=[0, 0, 1], headers=given)
    late = ("duestream-late-ms", b"20000")
    assert marks_of(flush, 20 * SECOND) == [[("a", b"1"), late], [late], [(late[0], b"19999")]]


def test_messages_of_some_sources_are_never_marked() -> None:
    flush = flush_of(b"a", b"b", due=[0, 0], source_topic=["in", "exact"], policy=[SERIES, SERIES])
    marked, exact = marks_of(flush, marks=Marks(SECOND, frozenset({"exact"})))
    assert len(marked) == 3
    assert exact is None


def test_a_message_of_a_series_says_which_one_it_is_and_for_when() -> None:
    flush = flush_of(
        b"a",
        b"b",
        b"c",
        occurrence=[0, 41, 41],
        policy=[SERIES, '{"series":true}', '{"compare":"series"}'],
        scheduled=[NOW, NOW + 1, NOW],
    )
    first, later, single = marks_of(flush)
    assert first == [
        ("duestream-occurrence", b"1"),
        ("duestream-scheduled", b"2027-01-15T08:00:00.000000Z"),
    ]
    assert later == [
        ("duestream-occurrence", b"42"),
        ("duestream-scheduled", b"2027-01-15T08:00:00.000001Z"),
    ]
    assert single is None


def test_what_nobody_scheduled_is_not_marked() -> None:
    kinds = sorted(set(Kind) - {Kind.MESSAGE})
    keys = [b"%d" % n for n in range(len(kinds))]
    flush = flush_of(*keys, kind=kinds, due=[0] * len(kinds), policy=[SERIES] * len(kinds))
    assert marks_of(flush) == [None] * len(kinds)
