"""Proves from the state's own tables that every accepted message is accounted for."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from state.inspect import Filter, Inspector, Ledger
from state.row import (
    LIVE,
    OCCURRENCE,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    STATUS,
    Kind,
    Status,
)
from state.version import Coordinates

_EVERY_MESSAGE = Filter(kind=Kind.MESSAGE)
_LOOKS = 5
_VERSION = [SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, OCCURRENCE]


@dataclass(frozen=True, slots=True)
class LedgerAudit:
    """The running totals of a state, held against a count of its rows."""

    ledger: Ledger
    kept: dict[Status, int]  # the rows that are there, by status
    twice: list[Coordinates]  # records that stand in more than one row
    steady: bool  # whether the state stood still while the rows were counted

    def differences(self) -> Iterator[str]:
        """Yield a sentence for whatever does not agree."""
        if self.ledger.difference:
            yield _unbalanced(self.ledger)
        for status, kept in self.kept.items():
            total = self.ledger.ends.get(status, 0)
            if status in LIVE and self.steady and kept != total:
                yield f"{status}: the ledger says {total:,}, the tables have {kept:,} rows"
            if status not in LIVE and kept > total:
                yield f"{status}: {kept:,} rows are kept, and only {total:,} were counted"
        for topic, partition, offset, occurrence in self.twice:
            repeat = f", occurrence {occurrence + 1}" if occurrence else ""
            yield (
                f"the record {topic}, partition {partition}, offset {offset}{repeat} stands in two "
                "rows"
            )

    @property
    def not_kept(self) -> dict[Status, int]:
        """How many ended messages are only counted.

        Rows are forgotten after state.keep_closed; and a message overtaken by a newer record of the
        same micro-batch, replaced or cancelled by it, is counted and never becomes a row.
        """
        ends = self.ledger.ends
        return {s: max(0, ends.get(s, 0) - self.kept[s]) for s in self.kept if s not in LIVE}


def audit_ledger(inspector: Inspector, now: int) -> tuple[LedgerAudit, pa.Table]:
    """Compare the ledger with the rows; return the rows too, all messages that are kept.

    The totals are those of the last fold and of every line of the changelog since, so they are
    exact as of the moment the changelog was read. A job that writes meanwhile would make the two
    differ: then they are read again, and after a few times the live rows are not compared.
    """
    ledger = inspector.stats(now).ledger
    for _ in range(_LOOKS):
        rows = inspector.rows(_EVERY_MESSAGE)
        before, ledger = ledger, inspector.stats(now).ledger
        if ledger == before:
            break
    audit = LedgerAudit(ledger, _by_status(rows), _twice(rows), ledger == before)
    return audit, rows


def _by_status(rows: pa.Table) -> dict[Status, int]:
    counted = Counter(rows.column(STATUS).to_pylist())
    return {status: counted[status.value] for status in Status}


def _twice(rows: pa.Table) -> list[Coordinates]:
    counted = rows.group_by(_VERSION).aggregate([([], "count_all")])
    more = [row for row in counted.to_pylist() if row["count_all"] > 1]
    return sorted((r[_VERSION[0]], r[_VERSION[1]], r[_VERSION[2]], r[_VERSION[3]]) for r in more)


def _unbalanced(ledger: Ledger) -> str:
    ends = ledger.accepted - ledger.difference
    what = "missing" if ledger.difference > 0 else "too many"
    return (
        f"{ledger.accepted:,} were accepted and the ends add up to {ends:,}: "
        f"{abs(ledger.difference):,} {what}"
    )
