"""The mark that a message is out, and the cancel of a schedule: neither is taken for the other."""

import pytest

from pipeline.dialects.marks import is_passed_over, says_sent

KEY = b"k"
SCHEDULE = [("scheduler-epoch", b"1893456000"), ("scheduler-target-topic", b"out")]
OF_ETF1 = [
    *SCHEDULE,
    ("scheduler-timestamp", b"1767268800"),
    ("scheduler-key", KEY),
    ("scheduler-topic", b"schedules"),
]
OURS = [("duestream-ended", b"done")]
DIALECTS = ("cloudevents", "cloudevents-mongo", "kms-avro", "kms-json", "etf1", "karafka")


def _says(dialect, headers, key=KEY, value=None):
    return says_sent(dialect, key, value, headers), is_passed_over(dialect, value, headers)


@pytest.mark.parametrize("headers", [None, [], [("trace", b"1")], SCHEDULE])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_null_value_without_a_mark_is_a_cancel(dialect, headers):
    assert _says(dialect, headers) == (False, False)


@pytest.mark.parametrize("dialect", ["kms-avro", "kms-json"])
def test_kms_says_it_with_a_header_in_any_case(dialect):
    for said in (b"true", b"TRUE", b"True"):
        assert _says(dialect, [("a", b"b"), ("schedule:expired", said)]) == (True, True)
    for said in (b"false", b"", None):
        assert _says(dialect, [("schedule:expired", said)]) == (False, False)
    assert _says(dialect, [("Schedule:Expired", b"true")]) == (False, False)


def test_a_mark_of_etf1_says_sent_and_ends_what_is_pending_in_a_job():
    assert _says("etf1", OF_ETF1) == (True, False)


@pytest.mark.parametrize("missing", ["scheduler-timestamp", "scheduler-key", "scheduler-topic"])
def test_etf1_names_its_source_in_full(missing):
    assert _says("etf1", [pair for pair in OF_ETF1 if pair[0] != missing]) == (False, False)


def test_the_source_that_etf1_names_is_that_of_the_mark():
    assert _says("etf1", OF_ETF1, key=b"another") == (False, False)
    forwarded = [("scheduler-key", b"another"), *OF_ETF1]  # a schedule that came from a schedule
    assert _says("etf1", forwarded) == (True, False)


@pytest.mark.parametrize("dialect", ["etf1", "karafka"])
def test_a_mark_of_our_own_is_passed_over(dialect):
    assert _says(dialect, OURS) == (True, True)
    assert _says(dialect, [*OF_ETF1, *OURS]) == (True, True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_has_a_value_is_no_mark(dialect):
    headers = [*OF_ETF1, *OURS, ("schedule:expired", b"true")]
    for value in (b"", b"v"):
        assert _says(dialect, headers, value=value) == (False, False)


@pytest.mark.parametrize("dialect", ["cloudevents", "cloudevents-mongo"])
def test_a_dialect_without_marks_has_none(dialect):
    headers = [*OF_ETF1, *OURS, ("schedule:expired", b"true")]
    assert _says(dialect, headers) == (False, False)
