"""A message is held while a newer record of its key waits to be read."""

import threading

import pytest
from test_lane import claims, items

from pipeline.outbox.lane import NAMED, Lane
from pipeline.outbox.marker import Marker
from pipeline.outbox.outbox import Outbox
from state.admission import HighMarks
from state.version import Version

LIMIT = 50


@pytest.fixture
def lane() -> Lane:
    return Lane(number=0, lanes=1, hold_limit=LIMIT)


def dues(flush) -> list[int]:
    return [item.due for item in flush.items] if flush else []


def newer(offset: int) -> Version:
    return Version("in", 0, offset, offset)


def read_up_to(offset: int) -> HighMarks:
    return HighMarks({"in": {"0": offset}})


def test_what_is_held_stays_and_the_others_of_its_lane_go(lane: Lane) -> None:
    lane.add(items((b"a", 1, 100), (b"b", 2, 110)), batch=1)
    lane.saw(b"in\x00a", newer(7))
    flush = lane.release(now=120)
    assert dues(flush) == [110]
    assert flush.marker == Marker(1, 120, 1, (("in", 0, 1, 0),))
    assert lane.waiting == 1


def test_an_older_record_holds_nothing(lane: Lane) -> None:
    lane.add(items((b"a", 5, 100)), batch=1)
    lane.saw(b"in\x00a", newer(5))
    assert dues(lane.release(now=100)) == [100]


def test_what_is_claimed_after_the_record_was_seen_is_held_too(lane: Lane) -> None:
    lane.saw(b"in\x00a", newer(7))
    lane.add(items((b"a", 1, 100)), batch=1)
    assert lane.release(now=100) is None


def test_a_batch_that_has_read_the_record_and_left_the_message_lets_it_go(lane: Lane) -> None:
    lane.add(items((b"a", 1, 100)), batch=1)
    lane.saw(b"in\x00a", newer(7))
    assert lane.release(now=110) is None
    assert not lane.caught_up(read_up_to(6))
    assert lane.release(now=111) is None
    assert lane.caught_up(read_up_to(7))
    flush = lane.release(now=112)
    assert dues(flush) == [100]
    assert flush.marker == Marker(1, 112, 1)


def test_what_is_held_can_be_taken_back(lane: Lane) -> None:
    lane.add(items((b"a", 1, 100), (b"b", 2, 130)), batch=1)
    lane.saw(b"in\x00a", newer(7))
    assert lane.release(now=110) is None
    assert lane.retract(b"in\x00a", newer(7)) is not None
    flush = lane.release(now=140)
    assert flush.marker == Marker(1, 140, 1, (("in", 0, 1, 0),))  # until that is committed
    lane.published(flush)
    lane.lift_holds()
    assert lane.next_due() is None
    assert lane.rest() == []


def test_nothing_is_held_for_longer_than_the_limit(lane: Lane) -> None:
    lane.add(items((b"a", 1, 100)), batch=1)
    lane.saw(b"in\x00a", newer(7))
    assert lane.release(now=100 + LIMIT - 1) is None
    assert lane.next_due() == 100 + LIMIT
    assert dues(lane.release(now=100 + LIMIT)) == [100]


def test_no_more_are_held_than_a_marker_names(lane: Lane) -> None:
    lane.add(items(*((b"%d" % n, n, 100) for n in range(NAMED + 3))), batch=1)
    for n in range(NAMED + 3):
        lane.saw(b"in\x00%d" % n, newer(10**6))
    flush = lane.release(now=100)
    assert (len(flush.items), len(flush.marker.besides)) == (3, NAMED)


def test_what_is_held_when_a_job_stops_is_put_back(lane: Lane) -> None:
    lane.add(items((b"a", 1, 100), (b"b", 2, 300)), batch=1)
    lane.saw(b"in\x00a", newer(7))
    assert lane.release(now=110) is None
    assert [item.due for item in lane.rest()] == [100, 300]


def test_of_too_many_records_the_oldest_are_forgotten(lane: Lane, monkeypatch) -> None:
    monkeypatch.setattr("pipeline.outbox.lane.SEEN", 2)
    lane.add(items((b"a", 1, 100), (b"b", 2, 100), (b"c", 3, 100)), batch=1)
    for n, key in enumerate((b"x", b"y", b"c")):
        lane.saw(b"in\x00" + key, newer(10 + n))
    assert len(lane.release(now=100).items) == 2


def test_a_record_that_was_read_before_it_was_seen_holds_nothing() -> None:
    outbox = Outbox([None], 0, threading.Event(), hold_limit=LIMIT)
    outbox.hand_over(1, claims((b"a", 1, 100)))
    outbox.caught_up(read_up_to(7))
    outbox.saw([(b"in\x00a", 0, newer(7))])
    assert dues(outbox._workers[0].lane.release(now=100)) == [100]
    outbox.hand_over(2, claims((b"b", 2, 200)))
    outbox.saw([(b"in\x00b", 0, newer(8))])
    assert outbox._workers[0].lane.release(now=200) is None
