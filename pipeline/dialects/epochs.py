"""Reads the times of foreign dialects: whole seconds or milliseconds since 1970, and never guesses.

A number in the wrong unit is the commonest mistake with these dialects, and a time before 1970
the strangest; both are refused. A time that is merely past is none: the message goes out at once.
"""

from enum import Enum

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.dialects.instants import FOREVER
from pipeline.farthest import too_far
from pipeline.reasons import Reason
from pipeline.refuse import Rule
from state.row import DUE, SOURCE_TIMESTAMP

_WHOLE = r"\A\d+\z"
_BELOW_ZERO = r"\A-\d+\z"


class Unit(Enum):
    """What a time is counted in: the name, the microseconds that one has, and a finer unit.

    A time in the finer unit lies far ahead: that is the mistake which can be told.
    """

    SECONDS = ("seconds", 1_000_000, "milliseconds")
    MILLISECONDS = ("milliseconds", 1_000, "microseconds")


def epoch_micros(text: Column, unit: Unit) -> Column:
    """Return the instant of a whole number; null when it is none, FOREVER when it is too large."""
    micros = unit.value[1]
    count = F.coalesce(text.try_cast("long"), F.lit(FOREVER))
    return F.when(text.rlike(_WHOLE), F.least(count, F.lit(FOREVER // micros)) * micros)


def epoch_rules(name: str, text: Column, unit: Unit) -> list[Rule]:
    """Return what the time in the field or header ``name`` must keep; its fact is ``time``.

    The column DUE has what epoch_micros makes of it.
    """
    counted = f"whole {unit.value[0]} since 1970-01-01T00:00:00Z"
    return [
        missing(name, text, counted),
        Rule(
            text.rlike(_BELOW_ZERO),
            Reason.INVALID_TIME,
            f"{name}{{time}} is below zero; send {counted}",
        ),
        Rule(
            F.col(DUE).isNull(),
            Reason.INVALID_TIME,
            f"{name}{{time}} is not a whole number; send {counted}, digits only",
        ),
        Rule(
            too_far(F.col(DUE), F.col(SOURCE_TIMESTAMP)),
            Reason.TIME_OUT_OF_RANGE,
            f"{name}{{time}} is more than 100 years ahead; check the unit: it counts "
            f"{unit.value[0]}, not {unit.value[2]}",
        ),
    ]


def missing(name: str, text: Column, wanted: str) -> Rule:
    """Return the rule that a field or header is there and not empty."""
    return Rule(
        F.coalesce(text, F.lit("")) == "",
        Reason.MISSING_FIELD,
        f"{name} is missing or empty; send {wanted}",
    )
