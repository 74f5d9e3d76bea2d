"""Builds refusals as data: the first rule that is broken gives a record its reason and detail.

The sentence is put together once, after the rule is found: with one for each rule the plan would
grow so large that planning a micro-batch took longer than running it.
"""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.reasons import Reason
from state.row import DETAIL, REASON

_FOUND = "_refusal"
_FIELDS = ("reason", "subject", "value", "advice")
_SHOWN = 200  # characters of a value that a detail repeats


class Rule(NamedTuple):
    """A record for which ``broken`` is true is refused; null counts as false.

    The detail reads: subject, value in quotes if there is one, advice.
    """

    broken: Column
    reason: Reason
    subject: str | Column
    advice: str
    value: Column | None = None


def refuse(commands: DataFrame, rules: list[Rule]) -> DataFrame:
    """Set REASON and DETAIL by the first rule that is broken; a reason that is there stays."""
    found = F.col(_FOUND)
    reason, detail = found["reason"], F.concat_ws("", *_parts(found))
    if REASON in commands.columns:
        reason = F.coalesce(F.col(REASON), reason)
        detail = F.coalesce(F.col(DETAIL), F.when(found.isNotNull(), detail))
    else:
        detail = F.when(found.isNotNull(), detail)
    return (
        commands.withColumn(_FOUND, _first(rules))
        .withColumns({REASON: reason, DETAIL: detail})
        .drop(_FOUND)
    )


def _first(rules: list[Rule]) -> Column:
    chain = F.when(rules[0].broken, _finding(rules[0]))
    for rule in rules[1:]:
        chain = chain.when(rule.broken, _finding(rule))
    return chain


def _finding(rule: Rule) -> Column:
    value = F.lit(None) if rule.value is None else rule.value
    subject = F.lit(rule.subject) if isinstance(rule.subject, str) else rule.subject
    parts = (F.lit(rule.reason.value), subject, value, F.lit(rule.advice))
    named = zip(parts, _FIELDS, strict=True)
    return F.struct(*[part.cast("string").alias(name) for part, name in named])


def _parts(found: Column) -> list[Column]:
    # Valid UTF-8 whatever the record held: the detail travels as text.
    shown = F.make_valid_utf8(F.substring(found["value"], 1, _SHOWN))
    value = F.concat(F.lit(" '"), shown, F.lit("'"))
    return [found["subject"], value, F.lit(" "), found["advice"]]
