from datetime import datetime

import pytest
from chispa import assert_df_equality
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_records import SENT_MICROS, decode_all, record, structured, with_meta
from pyspark.sql import functions as F

from pipeline.dialects.durations import duration_micros
from pipeline.dialects.instants import FOREVER, epoch_seconds_micros, rfc3339_micros
from state.duration import parse_duration
from state.rules.instant import parse_instant

Y2030 = 1_893_456_000_000_000
INSTANTS = {
    "2030-01-01T00:00:00Z": Y2030,
    "2030-01-01t00:00:00z": Y2030,
    "2030-01-01T02:00:00+02:00": Y2030,
    "2029-12-31T18:30:00-05:30": Y2030,
    "2030-01-01T00:00:00-00:00": Y2030,
    "2030-01-01T00:00:00.1Z": Y2030 + 100_000,
    "2030-01-01T00:00:00.123456Z": Y2030 + 123_456,
    "2030-01-01T00:00:00.123456000Z": Y2030 + 123_456,
    "2030-01-01T00:00:00.123456001Z": Y2030 + 123_457,
    "2030-01-01T00:00:00.999999999Z": Y2030 + 1_000_000,
    "0001-01-01T00:00:00Z": -62_135_596_800_000_000,
    "1969-12-31T23:59:59.9999999Z": 0,
    "9999-12-31T23:59:59Z": 253_402_300_799_000_000,
    "2028-02-29T00:00:00Z": 1_835_395_200_000_000,
}
NO_INSTANTS = [
    "2030-01-01T00:00:00",
    "2030-01-01",
    "2030-01-01 00:00:00Z",
    " 2030-01-01T00:00:00Z",
    "2030-01-01T00:00:00Z\n",
    "2030-01-01T00:00:00 Z",
    "2030-01-01T00:00:00 Europe/Berlin",
    "2030-01-01T00:00:00UTC",
    "2030-01-01T00:00Z",
    "2030-01-01T24:00:00Z",
    "2030-01-01T00:00:60Z",
    "2030-01-01T00:60:00Z",
    "2030-02-30T00:00:00Z",
    "2029-02-29T00:00:00Z",
    "2030-13-01T00:00:00Z",
    "2030-00-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "12030-01-01T00:00:00Z",
    "+2030-01-01T00:00:00Z",
    "2030-1-1T00:00:00Z",
    "2030-01-01T00:00:00.Z",
    "2030-01-01T00:00:00.1234567890Z",
    "2030-01-01T00:00:00,5Z",
    "2030-01-01T00:00:00+0200",
    "2030-01-01T00:00:00+02",
    "2030-01-01T00:00:00+24:00",
    "٢٠٣٠-01-01T00:00:00Z",
    "1893456000",
    "now",
    "",
]
DURATIONS = {
    "PT15M": 900_000_000,
    "P7D": 604_800_000_000,
    "P2W": 1_209_600_000_000,
    "P1DT1H1M1S": 90_061_000_000,
    "PT0.5S": 500_000,
    "PT0,5S": 500_000,
    "PT0.0000001S": 1,
    "1h30m": 5_400_000_000,
    "1.5h": 5_400_000_000,
    "0.1h": 360_000_000,
    "30m1h": 5_400_000_000,
    "250ms": 250_000,
    "1m5ms": 60_005_000,
    "1us": 1,
    "2\u00b5s": 2,
    "2\u03bcs": 2,
    "1ns": 1,
    "1001ns": 2,
    "7d": 604_800_000_000,
    "0s": 0,
    "9" * 40 + "h": FOREVER,
}
NO_DURATIONS = [
    "",
    "P",
    "PT",
    "P1DT",
    "P1M",
    "P1Y",
    "-1h",
    "PT-1S",
    "1",
    "1h ",
    "1 h",
    "h",
    "1.h",
    "1H",
    "pt1h",
    "1w",
    "1x",
    "1h30",
    "1e3s",
    "PT1H\n",
]


def _compare(spark, function, expected):
    given_texts = spark.createDataFrame([(text,) for text in expected], "text string")
    wanted = spark.createDataFrame(list(expected.items()), "text string, micros long")
    found = given_texts.withColumn("micros", function(F.col("text")))
    assert_df_equality(found, wanted, ignore_nullable=True)


def test_an_instant_is_read_to_the_microsecond_and_never_rounded_down(spark):
    _compare(spark, rfc3339_micros, INSTANTS)


def test_what_is_not_an_rfc_3339_instant_is_not_read_as_one(spark):
    _compare(spark, rfc3339_micros, dict.fromkeys(NO_INSTANTS))


def test_the_rules_and_the_settings_read_what_the_dialects_read():
    assert {text: parse_instant(text) for text in INSTANTS} == INSTANTS
    assert {text: parse_duration(text) for text in DURATIONS} == DURATIONS


@pytest.mark.parametrize(
    ("parse", "text"),
    [(parse_instant, text) for text in NO_INSTANTS] + [(parse_duration, t) for t in NO_DURATIONS],
)
def test_the_rules_and_the_settings_refuse_what_the_dialects_refuse(parse, text):
    with pytest.raises(ValueError, match="write"):
        parse(text)


def test_a_duration_is_read_in_both_spellings_and_never_rounded_down(spark):
    _compare(spark, duration_micros, DURATIONS)


def test_what_is_not_a_duration_is_not_read_as_one(spark):
    _compare(spark, duration_micros, dict.fromkeys(NO_DURATIONS))


def test_seconds_since_the_epoch_are_read_as_they_were_written(spark):
    expected = {
        "1893456000": Y2030,
        "1893456000.123456": Y2030 + 123_456,
        "1893456000.123456789": Y2030 + 123_457,
        "1.893456e9": Y2030,
        "-1": -1_000_000,
        "0": 0,
        "9" * 30: FOREVER,
    }
    _compare(spark, epoch_seconds_micros, expected)


offsets = st.integers(-18 * 60 + 1, 18 * 60 - 1)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.tuples(st.datetimes(), offsets), min_size=100, max_size=100))
def test_every_instant_python_can_write_is_read_as_the_same_one(spark, drawn):
    expected = {}
    for naive, minutes in drawn:
        sign, apart = "-" if minutes < 0 else "+", abs(minutes)
        text = f"{naive.isoformat()}{sign}{apart // 60:02}:{apart % 60:02}"
        since = naive - datetime(1970, 1, 1)  # noqa: DTZ001  the offset is taken off below
        micros = (since.days * 86_400 + since.seconds - minutes * 60) * 1_000_000
        expected[text] = micros + since.microseconds
        assert parse_instant(text) == expected[text]
    _compare(spark, rfc3339_micros, expected)


@settings(max_examples=5, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 9999),
            st.decimals(0, 999, places=4),
            st.sampled_from(["d", "h", "m", "s", "ms", "us", "ns"]),
        ),
        min_size=50,
        max_size=50,
    )
)
def test_durations_are_read_as_the_settings_read_them(spark, drawn):
    texts = [f"{hours}h{amount}{unit}" for hours, amount, unit in drawn]
    texts += ["0.0001ns", "0.0005ns", "0.000499999ns", "0.0000004us", "0.0000005us", "1.000000001s"]
    _compare(spark, duration_micros, {text: parse_duration(text) for text in texts})


@pytest.fixture(scope="module")
def decoded(spark):
    meta = {"outputTopic": "o"}
    return decode_all(
        spark,
        {
            "at": record(structured({"deliverat": "2030-01-01T00:00:00.0000001Z"})),
            "past": record(structured({"deliverat": "1999-01-01T00:00:00Z"})),
            "delay": record(structured({"delayby": "PT15M"}), after_ms=1),
            "neither": record(structured(), after_ms=7),
            "century": record(structured({"deliverat": "2125-12-31T00:00:00Z"})),
            "meta instant": record(with_meta({**meta, "startAt": "2030-01-01T00:00:00+01:00"})),
            "meta number": record(with_meta('{"outputTopic":"o","startAt":1893456000.123456789}')),
            "meta digits": record(with_meta({**meta, "startAt": "1893456000"})),
            "meta delay": record(with_meta({**meta, "delayBy": "1h30m"})),
            "meta neither": record(with_meta({**meta, "startAt": None})),
        },
    )


@pytest.mark.parametrize(
    ("name", "due"),
    {
        "at": Y2030 + 1,
        "past": 915_148_800_000_000,
        "delay": SENT_MICROS + 1_000 + 900_000_000,
        "neither": SENT_MICROS + 7_000,
        "century": 4_922_812_800_000_000,
        "meta instant": Y2030 - 3_600_000_000,
        "meta number": Y2030 + 123_457,
        "meta digits": Y2030,
        "meta delay": SENT_MICROS + 5_400_000_000,
        "meta neither": SENT_MICROS,
    }.items(),
)
def test_the_due_instant_is_the_one_the_event_asks_for(decoded, name, due):
    assert (decoded[name].reason, decoded[name].due) == (None, due)
