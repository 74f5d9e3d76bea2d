"""Reads instants as microseconds since the epoch, rounded up so that nothing is early."""

from pyspark.sql import Column
from pyspark.sql import functions as F

# Beyond every limit, and still far enough from overflow to be added to a timestamp.
FOREVER = 4 * 10**18

# Spark's own reader takes blanks, zone names and times without an offset, so look first. It knows
# offsets up to 18 hours; none in use is larger than 14.
_RFC_3339 = (
    r"\A(?!0000)\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?"
    r"(?:[Zz]|[+-](?:(?:0\d|1[0-7]):[0-5]\d|18:00))\z"
)
_BELOW_A_MICROSECOND = r"\.\d{6}0*+[1-9]"
_EPOCH = r"\A-?\d{1,30}(?:\.\d{1,9})?(?:[eE]\+?\d{1,2})?\z"
_SECOND = 1_000_000


def rfc3339_micros(text: Column) -> Column:
    """Return the instant of an RFC 3339 text; null when it is none, or a day that never was."""
    in_capitals = F.translate(text, "tz", "TZ")  # upper() goes through ICU, which is slow
    micros = F.unix_micros(in_capitals.try_cast("timestamp"))  # cut off below the microsecond
    rounded = micros + text.rlike(_BELOW_A_MICROSECOND).cast("long")
    return F.when(text.rlike(_RFC_3339), rounded)


def is_epoch_seconds(text: Column) -> Column:
    """Tell whether ``text`` is a bare number."""
    return text.rlike(_EPOCH)


def epoch_seconds_micros(text: Column) -> Column:
    """Return the instant of a number of seconds since the epoch."""
    return whole_micros(text.try_cast("decimal(28,9)") * F.lit(_SECOND))


def whole_micros(micros: Column) -> Column:
    """Round a decimal up; what does not fit, or was too large to be read, is FOREVER."""
    return F.coalesce(F.least(F.ceil(micros).try_cast("long"), F.lit(FOREVER)), F.lit(FOREVER))
