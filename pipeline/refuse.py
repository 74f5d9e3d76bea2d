"""Builds refusals as data: the first rule that is broken gives a record its verdict.

Spark finds only which rule it is. The sentence is written on the driver, by pipeline.deadletter,
for the few that are refused: expressions that put it together for every rule would make the plan
so large that planning a micro-batch took longer than running it.
"""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.raw import VERDICT
from pipeline.reasons import Reason


class Rule(NamedTuple):
    """A record for which ``broken`` is true is refused; null counts as false.

    The sentence may name facts of the record in braces, as pipeline.facts gives them.
    """

    broken: Column
    reason: Reason
    sentence: str


def refuse(commands: DataFrame, rules: list[Rule]) -> DataFrame:
    """Set VERDICT by the first rule that is broken; one that is there stays."""
    chain = F.when(rules[0].broken, _verdict(rules[0]))
    for rule in rules[1:]:
        chain = chain.when(rule.broken, _verdict(rule))
    if VERDICT in commands.columns:
        chain = F.coalesce(F.col(VERDICT), chain)
    return commands.withColumn(VERDICT, chain)


def _verdict(rule: Rule) -> str:
    return f"{rule.reason.value} {rule.sentence}"
