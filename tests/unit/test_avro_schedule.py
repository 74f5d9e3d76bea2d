"""The own reader of Avro against golden bytes and against fastavro."""

import io

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.dialects.avro_schedule import AvroError, Schedule, read_schedule
from tests.foreign import NEW, OLD

GOLDEN = {
    "four fields": "80d0adac9b6e066f7574046b3102047631",
    "null value": "80d0adac9b6e066f7574046b3100",
    "a header": "80d0adac9b6e066f7574046b3102047631020268027800",
    "no headers": "80d0adac9b6e066f7574046b310204763100",
}
Y2030 = 1_893_456_000_000
SCHEDULES = {
    "four fields": Schedule(Y2030, "out", b"k1", b"v1", []),
    "null value": Schedule(Y2030, "out", b"k1", None, []),
    "a header": Schedule(Y2030, "out", b"k1", b"v1", [("h", b"x")]),
    "no headers": Schedule(Y2030, "out", b"k1", b"v1", []),
}
FRAME = b"\0\0\0\0\x2a"

schedules = st.builds(
    Schedule,
    st.integers(-(2**63), 2**63 - 1),
    st.text(min_size=1),
    st.binary(),
    st.none() | st.binary(),
    st.dictionaries(st.text(), st.binary()).map(lambda of: list(of.items())),
)
frames = st.just(b"") | st.binary(min_size=4, max_size=4).map(lambda number: b"\0" + number)


def encode(schedule: Schedule, schema: object = NEW) -> bytes:
    out = io.BytesIO()
    fields = schedule._asdict() | {"headers": dict(schedule.headers)}
    fastavro.schemaless_writer(out, schema, fields)
    return out.getvalue()


@pytest.mark.parametrize("frame", [b"", FRAME])
@pytest.mark.parametrize("name", GOLDEN)
def test_golden_bytes_are_read_with_and_without_a_frame(name: str, frame: bytes) -> None:
    assert read_schedule(frame + bytes.fromhex(GOLDEN[name])) == SCHEDULES[name]


@given(schedules)
def test_what_fastavro_writes_is_read_in_both_layouts(schedule: Schedule) -> None:
    assert read_schedule(encode(schedule)) == schedule
    assert read_schedule(encode(schedule, OLD)) == schedule._replace(headers=[])


@given(schedules.filter(lambda schedule: schedule.time > 0), frames)
def test_a_frame_of_any_schema_may_stand_before_it(schedule: Schedule, frame: bytes) -> None:
    assert read_schedule(frame + encode(schedule)) == schedule


def test_a_schedule_due_at_zero_is_not_taken_for_a_frame() -> None:
    schedule = Schedule(0, "out", b"k", b"v", [])
    assert read_schedule(encode(schedule)) == schedule


def test_a_map_may_come_in_blocks_and_say_their_sizes() -> None:
    old = bytes.fromhex(GOLDEN["four fields"])
    one, two = b"\x02h\x02x", b"\x02i\x02y"
    blocks = b"\x01\x08" + one + b"\x02" + two + b"\0"  # -1 entry in 4 bytes, then 1 entry
    assert read_schedule(old + blocks).headers == [("h", b"x"), ("i", b"y")]


@given(schedules, st.binary(min_size=1))
def test_bytes_that_are_left_over_are_refused_or_part_of_a_map(
    schedule: Schedule, more: bytes
) -> None:
    with pytest.raises(AvroError):
        read_schedule(encode(schedule._replace(time=Y2030)) + more)


@given(schedules, st.data())
def test_a_schedule_that_is_cut_off_is_refused(schedule: Schedule, data: st.DataObject) -> None:
    whole = encode(schedule._replace(time=Y2030))
    values_end = len(encode(schedule._replace(time=Y2030), OLD))
    cut = data.draw(st.integers(0, len(whole) - 1).filter(lambda at: at != values_end))
    with pytest.raises(AvroError):
        read_schedule(whole[:cut])


@given(st.binary())
def test_garbage_is_refused_and_nothing_else_is_raised(garbage: bytes) -> None:
    try:
        read_schedule(garbage)
    except AvroError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("hexed", "what"),
    [
        ("", "time"),
        ("ff" * 20, "time"),
        ("80d0adac9b6e01", "topic"),
        ("80d0adac9b6e02ff", "UTF-8"),
        ("80d0adac9b6e066f7574046b3104", "neither null nor bytes"),
        ("80d0adac9b6e066f7574046b310004fe", "headers"),
        ("80d0adac9b6e066f7574046b3100fffffffffffffffffe01", "headers"),
    ],
)
def test_the_error_names_the_field(hexed: str, what: str) -> None:
    with pytest.raises(AvroError, match=what):
        read_schedule(bytes.fromhex(hexed))
