"""How the command line writes and reads keys, payloads and instants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.clock import exact_text, instant_text
from pipeline.instants import (
    parse_instant,
    relative_text,
    span_text,
)
from pipeline.keys import key_bytes, key_text, payload_text
from state.errors import ConfigError

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
NOW = 1_893_456_000 * SECOND  # 2030-01-01T00:00:00Z


@given(st.binary())
def test_any_key_reads_back_as_it_was_shown(key: bytes) -> None:
    assert key_bytes(key_text(key)) == key


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (b"order-17", "order-17"),
        ("käse".encode(), "käse"),
        (b"\xff\x00", "0xff00"),
        (b"\x1b[31mred", "0x1b5b33316d726564"),
        (b"0x12", "0x30783132"),
        (None, ""),
    ],
)
def test_a_key_is_shown_as_text_where_a_terminal_can(key: bytes | None, text: str) -> None:
    assert key_text(key) == text


def test_a_key_typed_in_bytes_that_are_no_text_is_taken_as_typed() -> None:
    assert key_bytes("\udcff") == b"\xff"


def test_a_span_of_more_than_a_century_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"--due-from: .* is more than a hundred years"):
        parse_instant("+99999999999d", "--due-from", NOW)


def test_a_key_that_is_half_hexadecimal_is_refused() -> None:
    with pytest.raises(ConfigError, match="KEY: 0xzz is not hexadecimal"):
        key_bytes("0xzz")


@pytest.mark.parametrize(
    ("payload", "text"), [(b"a\n\tb", "a\n\tb"), (b"\xff", None), (b"\x1b[2J", None), (b"", "")]
)
def test_a_payload_is_text_only_if_it_cannot_harm_a_terminal(
    payload: bytes, text: str | None
) -> None:
    assert payload_text(payload) == text


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("+1h", NOW + HOUR),
        ("-5m", NOW - 5 * MINUTE),
        ("+PT1S", NOW + SECOND),
        ("2030-01-01T00:00:00Z", NOW),
        ("2030-01-01t01:00:00.000001+01:00", NOW + 1),
        ("2029-12-31 23:00:00.5-01:00", NOW + SECOND // 2),
    ],
)
def test_an_instant_is_read_as_rfc_3339_or_from_now(text: str, micros: int) -> None:
    assert parse_instant(text, "--due-from", NOW) == micros


@pytest.mark.parametrize(
    "text", ["2030-01-01T00:00:00", "2030-01-01", "tomorrow", "2030-02-30T00:00:00Z", "", "1h"]
)
def test_what_is_no_instant_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--due-to: .* such as 2030-01-31T09:00:00Z"):
        parse_instant(text, "--due-to", NOW)


def test_a_span_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="--due-to: '1 hour' is not a duration"):
        parse_instant("+1 hour", "--due-to", NOW)


@given(st.integers(min_value=0, max_value=4 * 10**15))
def test_an_exact_instant_reads_back_to_the_microsecond(micros: int) -> None:
    assert parse_instant(exact_text(micros), "--due-from", NOW) == micros


def test_instants_are_shown_to_the_millisecond_and_relative_to_now() -> None:
    assert instant_text(NOW + 1_500) == "2030-01-01T00:00:00.001Z"
    assert relative_text(NOW + 2 * HOUR + 5 * MINUTE, NOW) == "in 2h 5m"
    assert relative_text(NOW - 3 * SECOND, NOW) == "3s ago"


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "0ms"),
        (350_000, "350ms"),
        (1_250_000, "1s 250ms"),
        (90 * SECOND, "1m 30s"),
        (HOUR + 5 * SECOND, "1h"),
        (25 * HOUR, "1d 1h"),
    ],
)
def test_a_span_is_told_with_its_two_largest_units(micros: int, text: str) -> None:
    assert span_text(micros) == text
