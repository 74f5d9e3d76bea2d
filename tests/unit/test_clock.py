from datetime import UTC, datetime, timedelta, timezone

import pytest

from state.clock import MINUTE, exact_text, instant_text, micros_of
from state.errors import ConfigError


def test_an_instant_that_no_calendar_has_is_told_all_the_same():
    assert instant_text(0) == "1970-01-01T00:00:00.000Z"
    for micros in (-(10**18), 5 * 10**18):
        assert str(micros) in instant_text(micros)
        assert str(micros) in exact_text(micros)


def test_an_instant_is_counted_in_microseconds_from_any_zone():
    berlin = timezone(timedelta(hours=1))
    assert micros_of(datetime(1970, 1, 1, 1, 1, 0, 7, tzinfo=berlin)) == MINUTE + 7
    assert exact_text(micros_of(datetime(2030, 1, 31, 9, 30, tzinfo=UTC))).startswith("2030-01-31T")


def test_an_instant_without_a_zone_is_refused():
    with pytest.raises(ConfigError, match=r"2030-01-31T09:30:00 has no time zone; say it"):
        micros_of(datetime(2030, 1, 31, 9, 30))  # noqa: DTZ001
