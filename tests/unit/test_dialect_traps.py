"""What loses, loops or cancels elsewhere: here it is a dead letter with a reason, or sent late."""

import pytest
from foreign_records import (
    SOURCES,
    Y2030,
    decode_foreign,
    etf1,
    karafka,
    kms_avro,
    kms_json,
    mongo,
)
from kafka_records import record
from test_avro_schedule import GOLDEN, SCHEDULES, encode

from pipeline.reasons import Reason

GOOD = SCHEDULES["four fields"]
GOLDEN_BYTES = bytes.fromhex(GOLDEN["four fields"])
MILLIS, MICROS, NANOS = Y2030 * 10**3, Y2030 * 10**6, Y2030 * 10**9
YESTERDAY = 1_767_182_400  # seconds, a day before the records are sent
FOREIGN = tuple(source.dialect for source in SOURCES if source.dialect != "cloudevents")


def _at(seconds: int, milliseconds: int, instant: object) -> dict[str, tuple]:
    return {
        "etf1": etf1({"scheduler-epoch": str(seconds)}),
        "karafka": karafka({"schedule_target_epoch": str(seconds)}),
        "kms-avro": kms_avro(encode(GOOD._replace(time=milliseconds))),
        "kms-json": kms_json({"time": milliseconds}),
        "cloudevents-mongo": mongo({"publishAt": instant}),
    }


def _valued(value: bytes | None, **more: object) -> dict[str, tuple]:
    return {
        "etf1": etf1({}, value, **more),
        "karafka": karafka({}, value, **more),
        **{
            dialect: record(value, topic=dialect, **more)
            for dialect in ("kms-avro", "kms-json", "cloudevents-mongo")
        },
    }


# Of each trap: a record of every dialect.
TRAPS = {
    "negative epoch": _at(-1, -1, -1),
    "very negative epoch": _at(-(10**17), -(2**63), -(10**17)),
    "milliseconds": _at(MILLIS, MICROS, MILLIS),
    "nanoseconds": _at(NANOS, NANOS, NANOS),
    "beyond all numbers": {
        **_at(10**30, 2**63 - 1, 10**29),
        "kms-json": kms_json({"time": 10**30}),
    },
    "past due": _at(0, 0, "1969-12-31T00:00:00Z"),
    "due yesterday": _at(YESTERDAY, YESTERDAY * 1000, "2025-12-31T12:00:00Z"),
    "bare tombstone": {dialect: record(None, topic=dialect) for dialect in FOREIGN},
    "tombstone with the headers of a schedule": _valued(None),
    "keyless tombstone": {dialect: record(None, key=None, topic=dialect) for dialect in FOREIGN},
    "empty key": {dialect: (bytearray(), *row[1:]) for dialect, row in _valued(b"{}").items()},
    "zero-length value": _valued(b""),
    "garbage": _valued(b"\xc3\x28garbage"),
    "foreign record": {dialect: record(b"hello", topic=dialect) for dialect in FOREIGN},
    "mark of what was sent": {
        dialect: record(
            None, [("Schedule:Expired", b"x"), ("schedule:expired", b"True")], topic=dialect
        )
        for dialect in ("kms-avro", "kms-json")
    }
    | {
        "etf1": etf1({"scheduler-key": "k", "duestream-ended": "done"}, None),
        "karafka": karafka({"duestream-ended": "dead"}, None),
    },
    "mark of another scheduler": {
        "etf1": etf1(
            {"scheduler-timestamp": "1", "scheduler-key": "k", "scheduler-topic": "etf1"}, None
        )
    },
    "no mark": {
        dialect: record(None, [("schedule:expired", said)], topic=dialect)
        for dialect, said in (("kms-avro", b"false"), ("kms-json", None))
    },
}


@pytest.fixture(scope="module")
def found(spark):
    cases = {(trap, dialect): row for trap, of in TRAPS.items() for dialect, row in of.items()}
    return decode_foreign(spark, cases)


def _reasons(found, trap):
    lines = {dialect: found[trap, dialect] for dialect in TRAPS[trap]}
    for line in lines.values():
        assert (line.entry == "reject") == (line.reason is not None)
        assert line.reason is None or (line.output_topic, bool(line.detail)) == ("dead", True)
    return {dialect: line.reason for dialect, line in lines.items()}


@pytest.mark.parametrize("trap", ["negative epoch", "very negative epoch"])
def test_a_negative_epoch_is_a_dead_letter(found, trap):
    assert _reasons(found, trap) == dict.fromkeys(FOREIGN, Reason.INVALID_TIME)


@pytest.mark.parametrize("trap", ["milliseconds", "nanoseconds", "beyond all numbers"])
def test_a_time_in_the_wrong_unit_is_refused_with_that_sentence_and_never_guessed(found, trap):
    assert _reasons(found, trap) == dict.fromkeys(FOREIGN, Reason.TIME_OUT_OF_RANGE)
    for dialect in FOREIGN:
        right = "counts milliseconds, not microseconds" if "kms" in dialect else "not milliseconds"
        assert "check the unit" in found[trap, dialect].detail
        assert right in found[trap, dialect].detail


@pytest.mark.parametrize("trap", ["past due", "due yesterday"])
def test_what_is_past_due_is_put_as_it_is_and_so_goes_out_late(found, trap):
    assert _reasons(found, trap) == dict.fromkeys(FOREIGN)
    dues = {found[trap, dialect].due for dialect in FOREIGN}
    assert dues <= ({0, -86_400_000_000} if trap == "past due" else {YESTERDAY * 1_000_000})
    assert all(found[trap, dialect].entry == "put" for dialect in FOREIGN)


@pytest.mark.parametrize("trap", ["bare tombstone", "tombstone with the headers of a schedule"])
def test_a_null_value_cancels_the_schedule_of_its_key_and_no_other(found, trap):
    assert _reasons(found, trap) == dict.fromkeys(FOREIGN)
    for dialect in FOREIGN:
        between = b"0\0" if dialect == "karafka" else b""
        line = found[trap, dialect]
        identity = dialect.encode() + b"\0" + between + b"k"
        assert (line.entry, line.identity) == ("cancel", identity)


@pytest.mark.parametrize("trap", ["keyless tombstone", "empty key"])
def test_a_record_without_a_key_is_a_dead_letter_and_cancels_nothing(found, trap):
    reasons = _reasons(found, trap)
    assert None not in reasons.values()
    assert reasons["etf1"] == reasons["karafka"] == Reason.MISSING_KEY


def test_a_zero_length_value_is_a_payload_of_no_bytes_or_a_dead_letter_but_never_a_cancel(found):
    assert _reasons(found, "zero-length value") == {
        "etf1": None,
        "karafka": None,
        "kms-avro": Reason.INVALID_AVRO,
        "kms-json": Reason.INVALID_JSON,
        "cloudevents-mongo": Reason.INVALID_JSON,
    }
    for dialect in ("etf1", "karafka"):
        line = found["zero-length value", dialect]
        assert (line.entry, line.payload) == ("put", b"")


def test_garbage_is_a_dead_letter_that_says_what_is_wrong(found):
    reasons = _reasons(found, "garbage")
    assert (reasons["etf1"], reasons["karafka"]) == (None, None)  # to them it is a payload
    assert reasons["kms-avro"] == Reason.INVALID_AVRO
    assert reasons["kms-json"] == reasons["cloudevents-mongo"] == Reason.INVALID_JSON
    assert "topic" in found["garbage", "kms-avro"].detail


def test_a_record_that_is_none_of_the_dialect_is_a_dead_letter(found):
    assert _reasons(found, "foreign record") == {
        "etf1": Reason.MISSING_FIELD,
        "karafka": Reason.MISSING_FIELD,
        "kms-avro": Reason.INVALID_AVRO,
        "kms-json": Reason.INVALID_JSON,
        "cloudevents-mongo": Reason.INVALID_JSON,
    }
    assert "scheduler-epoch is missing" in found["foreign record", "etf1"].detail


def test_a_mark_of_what_was_sent_says_nothing_and_cancels_nothing(found):
    marks = [case for case in found if case[0] == "mark of what was sent"]
    assert marks == []
    assert {found["no mark", dialect].entry for dialect in TRAPS["no mark"]} == {"cancel"}


def test_a_mark_that_another_scheduler_left_ends_what_is_pending(found):
    """It has sent the message: a job that passed the mark over would send it once more."""
    line = found["mark of another scheduler", "etf1"]
    assert (line.entry, line.identity) == ("cancel", b"etf1\0k")


def test_every_other_record_is_still_there(found):
    given = sum(map(len, TRAPS.values()))
    assert len(found) == given - len(TRAPS["mark of what was sent"])


@pytest.fixture(scope="module")
def blank(spark):
    keys = {"blank": b" \t", "newline": b"\n"}
    return decode_foreign(
        spark,
        {
            (name, kind): etf1({}, value, key=key)
            for name, key in keys.items()
            for kind, value in (("put", b"v"), ("cancel", None))
        },
        [source for source in SOURCES if source.dialect == "etf1"],
    )


def test_a_blank_key_is_a_dead_letter_whether_it_puts_or_cancels(blank):
    assert {line.reason for line in blank.values()} == {Reason.MISSING_KEY}
    assert all("blank" in line.detail for line in blank.values())
