"""Reads delays, ISO 8601 (``PT15M``) or as Go writes them (``1h30m``), as microseconds."""

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.dialects.instants import whole_micros

# Months and years are not here: they are not of one length.
_ISO = (
    r"\AP(?=[0-9T])(?:\d+W)?(?:\d+D)?"
    r"(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:[.,]\d{1,9})?S)?)?\z"
)
_AMOUNT = r"\d+(?:\.\d{1,9})?"
_GO = rf"\A(?:{_AMOUNT}(?:ns|us|µs|μs|ms|s|m|h|d))++\z"
_MICROS = {
    "w": Decimal(604_800_000_000),
    "d": Decimal(86_400_000_000),
    "h": Decimal(3_600_000_000),
    "m": Decimal(60_000_000),
    "s": Decimal(1_000_000),
    "ms": Decimal(1_000),
    "us": Decimal(1),
    "µs": Decimal(1),
    "μs": Decimal(1),
    "ns": Decimal("0.001"),
}
_TYPE = "decimal(38,9)"


def is_duration(text: Column) -> Column:
    """Tell whether ``text`` is a duration."""
    return text.rlike(f"{_ISO}|{_GO}")


def duration_micros(text: Column) -> Column:
    """Return the length of a duration, rounded up; null when ``text`` is none."""
    iso_as_go = F.replace(F.translate(F.lower(text), "pt", ""), F.lit(","), F.lit("."))
    spelled = F.when(text.rlike(_ISO), iso_as_go).otherwise(text)
    parts = F.regexp_extract_all(spelled, F.lit(f"{_AMOUNT}[a-zµμ]+"), F.lit(0))
    total = F.aggregate(parts, F.lit(Decimal(0)).cast(_TYPE), _add)
    return F.when(is_duration(text), whole_micros(total))


def _add(total: Column, part: Column) -> Column:
    amount = F.regexp_extract(part, _AMOUNT, 0).try_cast("decimal(28,9)")
    unit = F.regexp_extract(part, "[^0-9.]+", 0)
    units = F.create_map(*[F.lit(item) for pair in _MICROS.items() for item in pair])
    return (total + amount * F.try_element_at(units, unit)).try_cast(_TYPE)
