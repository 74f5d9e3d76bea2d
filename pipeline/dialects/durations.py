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
_MICROS = {
    "w": Decimal(604_800_000_000),
    "d": Decimal(86_400_000_000),
    "h": Decimal(3_600_000_000),
    "m": Decimal(60_000_000),
    "s": Decimal(1_000_000),
    "ms": Decimal(1_000),
    "[uµμ]s": Decimal(1),
    "ns": Decimal("0.001"),
}
_GO = rf"\A(?=\d){''.join(f'(?:{_AMOUNT}{unit})?' for unit in _MICROS)}\z"


def duration_micros(text: Column) -> Column:
    """Return the length of a duration, rounded up; null when ``text`` is none."""
    iso_as_go = F.replace(F.translate(F.lower(text), "pt", ""), F.lit(","), F.lit("."))
    spelled = F.when(text.rlike(_ISO), iso_as_go).when(text.rlike(_GO), text)
    total = F.lit(Decimal(0))
    for unit, micros in _MICROS.items():
        total = total + _amount(spelled, unit) * F.lit(micros)
    return F.when(spelled.isNotNull(), whole_micros(total))


def _amount(spelled: Column, unit: str) -> Column:
    digits = F.regexp_extract(spelled, f"({_AMOUNT}){unit}(?![a-z])", 1)
    return F.when(digits == "", F.lit(Decimal(0))).otherwise(digits.try_cast("decimal(28,9)"))
