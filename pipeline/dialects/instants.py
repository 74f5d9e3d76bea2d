"""Reads instants as microseconds since the epoch, rounded up so that nothing is early."""

from pyspark.sql import Column
from pyspark.sql import functions as F

# Beyond every limit, and still far enough from overflow to be added to a timestamp.
FOREVER = 4 * 10**18

# Spark's own reader takes blanks, zone names and times without an offset; so look first.
_RFC_3339 = (
    r"\A(?!0000)\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?"
    r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)\z"
)
_EPOCH = r"\A-?\d{1,30}(?:\.\d{1,9})?(?:[eE]\+?\d{1,2})?\z"
_SECOND = 1_000_000


def rfc3339_micros(text: Column) -> Column:
    """Return the instant of an RFC 3339 text; null when it is none, or a day that never was."""
    day_and_time = F.concat(
        F.substring(text, 1, 10), F.lit("T"), F.substring(text, 12, 8), F.lit("Z")
    )
    micros = F.unix_micros(day_and_time.try_cast("timestamp"))
    return F.when(text.rlike(_RFC_3339), micros + _fraction(text) - _offset(text))


def is_epoch_seconds(text: Column) -> Column:
    """Tell whether ``text`` is a bare number."""
    return text.rlike(_EPOCH)


def epoch_seconds_micros(text: Column) -> Column:
    """Return the instant of a number of seconds since the epoch; null when it is no number."""
    seconds = text.try_cast("decimal(28,9)")
    return F.when(is_epoch_seconds(text), whole_micros(seconds * F.lit(_SECOND)))


def whole_micros(micros: Column) -> Column:
    """Round a decimal up; what does not fit, or was too large to be read, is FOREVER."""
    return F.coalesce(F.least(F.ceil(micros).try_cast("long"), F.lit(FOREVER)), F.lit(FOREVER))


def _fraction(text: Column) -> Column:
    digits = F.rpad(F.regexp_extract(text, r"\.(\d+)", 1), 9, "0")
    return F.ceil(digits.try_cast("long") / 1000)


def _offset(text: Column) -> Column:
    sign = F.when(F.substring(text, -6, 1) == "-", -1).otherwise(1)
    minutes = _number(text, -5) * 60 + _number(text, -2)
    return F.when(text.rlike(r"[Zz]\z"), 0).otherwise(sign * minutes * 60 * _SECOND)


def _number(text: Column, at: int) -> Column:
    return F.substring(text, at, 2).try_cast("long")
