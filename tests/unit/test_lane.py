"""The publish protocol's memory: what may go out when, and what the marker then says."""

from collections.abc import Iterable

import pyarrow as pa
import pytest

from pipeline.outbox.gone import REMEMBERED
from pipeline.outbox.item import Item, items_by_lane
from pipeline.outbox.lane import MOST, NAMED, Lane
from pipeline.outbox.marker import Marker
from state import row
from state.row import Kind, Status
from state.version import Version


def claims(*lines: tuple[bytes, int, int]) -> pa.Table:
    """Rows of (key, offset, due), claimed by batch 1."""
    return pa.Table.from_pylist(
        [
            {
                row.IDENTITY: b"in\x00" + key,
                row.HASH: 0,
                row.SOURCE_TOPIC: "in",
                row.SOURCE_PARTITION: 0,
                row.SOURCE_OFFSET: offset,
                row.SOURCE_TIMESTAMP: offset,
                row.KEY: key,
                row.KIND: Kind.MESSAGE,
                row.OUTPUT_TOPIC: "out",
                row.DUE: due,
                row.STATUS: Status.CLAIMED,
                row.CLAIM: 1,
            }
            for key, offset, due in lines
        ],
        schema=row.ROW,
    )


def items(*lines: tuple[bytes, int, int]) -> list[Item]:
    return [item for _, item in items_by_lane(claims(*lines), 1)]


def due_at(dues: Iterable[int]) -> list[Item]:
    return items(*((b"%d" % n, n, due) for n, due in enumerate(dues)))


@pytest.fixture
def lane() -> Lane:
    return Lane(number=0, lanes=1)


def test_nothing_goes_out_before_its_instant(lane: Lane) -> None:
    lane.add(items((b"a", 0, 100)), batch=1)
    assert lane.release(now=99) is None
    flush = lane.release(now=100)
    assert flush is not None
    assert flush.marker == Marker(batch=1, watermark=100, lanes=1)


def test_what_is_due_goes_out_in_the_order_of_its_instants(lane: Lane) -> None:
    lane.add(items((b"a", 0, 30), (b"b", 1, 50)), batch=1)
    lane.add(items((b"c", 2, 20), (b"d", 3, 40)), batch=2)
    flush = lane.release(now=45)
    assert flush is not None
    assert [item.due for item in flush.items] == [20, 30, 40]
    assert lane.next_due() == 50


def test_what_went_out_does_not_go_out_again(lane: Lane) -> None:
    lane.add(items((b"a", 0, 10)), batch=1)
    assert lane.release(now=10) is not None
    assert lane.release(now=20) is None


def test_a_newer_command_takes_a_waiting_message_back(lane: Lane) -> None:
    lane.add(items((b"a", 5, 100)), batch=1)
    assert lane.retract(b"in\x00a", Version("in", 0, 6, 6)) is not None
    lane.lift_holds()
    assert lane.release(now=200) is None
    assert lane.next_due() is None


def test_an_older_command_takes_nothing_back(lane: Lane) -> None:
    lane.add(items((b"a", 5, 100)), batch=1)
    assert lane.retract(b"in\x00a", Version("in", 0, 4, 4)) is None
    assert lane.retract(b"in\x00a", Version("in", 0, 5, 5)) is None


def test_a_message_on_its_way_out_cannot_be_taken_back(lane: Lane) -> None:
    lane.add(items((b"a", 5, 100)), batch=1)
    lane.release(now=100)
    assert lane.retract(b"in\x00a", Version("in", 0, 6, 6)) is None


def test_the_marker_names_a_message_taken_back_until_that_is_committed(lane: Lane) -> None:
    lane.add(items((b"a", 5, 100), (b"b", 6, 90), (b"c", 7, 110), (b"d", 8, 300)), batch=1)
    lane.retract(b"in\x00a", Version("in", 0, 9, 9))
    lane.retract(b"in\x00d", Version("in", 0, 10, 10))
    flush = lane.release(now=200)
    assert flush is not None
    assert [item.due for item in flush.items] == [90, 110]
    assert flush.marker == Marker(1, 200, 1, (("in", 0, 5, 0),))
    assert not flush.marker.covers(1, 100, ("in", 0, 5, 0))
    assert flush.marker.covers(1, 110, ("in", 0, 7, 0))
    lane.published(flush)
    lane.lift_holds()
    lane.add(items((b"e", 11, 250)), batch=2)
    rest = lane.release(now=400)
    assert rest is not None
    assert rest.marker == Marker(2, 400, 1)


def test_a_marker_names_so_many_and_stays_below_the_others(lane: Lane) -> None:
    lane.add(due_at(range(1, NAMED + 11)), batch=1)
    for n in range(NAMED + 5):
        lane.retract(b"in\x00%d" % n, Version("in", 0, 10**6, 10**6))
    assert lane.release(now=10**9) is None
    lane.add(items((b"early", 10**5, 0)), batch=2)
    flush = lane.release(now=10**9)
    assert flush is not None
    assert [item.due for item in flush.items] == [0]
    assert (flush.marker.watermark, len(flush.marker.besides)) == (NAMED, NAMED)
    lane.published(flush)
    lane.lift_holds()
    rest = lane.release(now=10**9)
    assert rest is not None
    assert (len(rest.items), rest.marker.besides) == (5, ())


def test_a_clock_that_steps_back_never_lowers_the_marker(lane: Lane) -> None:
    lane.add(items((b"a", 0, 100)), batch=1)
    first = lane.release(now=500)
    assert first is not None
    lane.published(first)
    lane.add(items((b"b", 1, 300), (b"c", 2, 600)), batch=2)
    second = lane.release(now=50)
    assert second is not None
    assert second.marker == Marker(batch=2, watermark=500, lanes=1)
    assert [item.due for item in second.items] == [300]


def test_what_is_taken_back_below_the_marker_is_named_too(lane: Lane) -> None:
    lane.add(items((b"a", 0, 100)), batch=1)
    first = lane.release(now=500)
    assert first is not None
    lane.published(first)
    lane.add(items((b"late", 1, 300), (b"later", 2, 310)), batch=2)
    lane.retract(b"in\x00late", Version("in", 0, 9, 9))
    flush = lane.release(now=600)
    assert flush is not None
    assert flush.marker == Marker(2, 600, 1, (("in", 0, 1, 0),))


def test_two_versions_of_a_key_left_by_a_crash_both_go_out(lane: Lane) -> None:
    lane.add(items((b"a", 1, 100), (b"a", 2, 200)), batch=1)
    first, second = lane.release(now=100), lane.release(now=200)
    assert first is not None
    assert second is not None
    assert [item.version.offset for item in first.items + second.items] == [1, 2]


def test_the_rest_is_what_never_left(lane: Lane) -> None:
    lane.add(items((b"a", 0, 100), (b"b", 1, 200), (b"c", 2, 300)), batch=1)
    lane.release(now=100)
    lane.retract(b"in\x00b", Version("in", 0, 9, 9))
    assert [item.due for item in lane.rest()] == [300]


def test_headers_of_all_rows_stay_with_their_rows() -> None:
    table = claims((b"a", 0, 1), (b"b", 1, 2), (b"c", 2, 3))
    headers = pa.array(
        [
            [{"key": "x", "value": b"1"}, {"key": "x", "value": None}],
            None,
            [{"key": "", "value": b""}],
        ],
        row.HEADERS_TYPE,
    )
    table = table.set_column(table.schema.get_field_index(row.HEADERS), row.HEADERS, headers)
    for part in (table, table.slice(1), pa.concat_tables([table.slice(2), table.slice(0, 2)])):
        found = [item.chunk.headers[item.index] for _, item in items_by_lane(part, 1)]
        wanted = [
            [(each["key"], each["value"]) for each in line] if line else None
            for line in part[row.HEADERS].to_pylist()
        ]
        assert found == wanted


def test_a_transaction_holds_so_many_messages_and_its_marker_covers_no_more(lane):
    lane.add(due_at(range(1, MOST + 101)), batch=1)
    flush = lane.release(now=10**9)
    assert (len(flush.items), flush.marker.watermark) == (MOST, MOST)
    lane.published(flush)
    rest = lane.release(now=10**9)
    assert (len(rest.items), rest.marker.watermark) == (100, 10**9)


def test_messages_due_at_one_instant_or_before_the_watermark_go_out_together(lane):
    lane.watermark = 50
    lane.add(due_at([7] * (MOST + 5) + [60] * 3), batch=1)
    flush = lane.release(now=100)
    assert (len(flush.items), flush.marker.watermark) == (MOST + 5, 50)


def test_what_left_is_remembered_for_a_while_for_those_who_come_too_late(lane: Lane) -> None:
    lane.add(items(*((b"%d" % n, n, 100 + n) for n in range(2 * REMEMBERED + 9))), batch=1)
    while flush := lane.release(now=10**9):
        lane.published(flush, decided={0})
    newer, older = Version("in", 0, 10**6, 10**6), Version("in", 0, 0, 0)
    last = b"in\x00%d" % (2 * REMEMBERED + 8)
    assert lane.gone(last, newer) == 108 + 2 * REMEMBERED
    assert lane.gone(last, older) is None  # it went out after that
    assert lane.gone(b"in\x000", newer) is None  # refused
    assert lane.gone(b"in\x001", newer) is None  # forgotten
    assert lane.gone(b"in\x00nobody", newer) is None
    lane.retract(last, newer)
    assert lane.gone(last, newer) is None  # there is a newer command
