"""Builds refusals as data: the first rule that is broken gives a record its reason and detail."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.reasons import Reason
from state.row import DETAIL, REASON

_SHOWN = 200  # characters of a value that a detail repeats


class Rule(NamedTuple):
    """A record for which ``broken`` is true is refused; null counts as false."""

    broken: Column
    reason: Reason
    detail: Column


def first_refusal(rules: list[Rule], already: Column | None = None) -> Column:
    """Return struct(reason, detail) of the first broken rule, or of nulls; ``already`` wins."""
    refusal = F.when(F.lit(False), _pair(F.lit(None), F.lit(None)))
    if already is not None:
        refusal = refusal.when(already, _pair(F.col(REASON), F.col(DETAIL)))
    for rule in rules:
        refusal = refusal.when(rule.broken, _pair(F.lit(rule.reason.value), rule.detail))
    return refusal


def first_named(names: Iterable[str], broken: Callable[[str], Column]) -> Column:
    """Return the first of ``names`` that is broken, null if none is."""
    return F.coalesce(*[F.when(broken(name), name) for name in names])


def rule_naming(name: Column, reason: Reason, what: str) -> Rule:
    """Refuse when ``name`` is not null, with a sentence that begins with it."""
    return Rule(name.isNotNull(), reason, sentence(name, what))


def sentence(*parts: str | Column) -> Column:
    """Join text and columns; a column that is null says nothing."""
    return F.concat_ws("", *[F.lit(part) if isinstance(part, str) else part for part in parts])


def quoted(value: Column) -> Column:
    """Show a value from a record, shortened, and as valid UTF-8 whatever it was."""
    shown = F.make_valid_utf8(F.substring(value, 1, _SHOWN))
    return F.concat(F.lit("'"), shown, F.lit("'"))


def _pair(reason: Column, detail: Column) -> Column:
    return F.struct(reason.cast("string").alias(REASON), detail.cast("string").alias(DETAIL))
