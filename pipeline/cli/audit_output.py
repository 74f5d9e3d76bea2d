"""Writes what an audit found, for people and for programs."""

import json
from collections.abc import Iterator
from typing import Any

import typer
from rich import box
from rich.table import Table

from pipeline.audit import LedgerAudit
from pipeline.cli.as_table import console
from pipeline.receipts import Matching
from state.row import Status

_TOLD = 20  # differences told one by one
_MOVING = (
    "The job wrote while this was read, so pending and claimed rows were not compared; "
    "audit again when it is quieter, or stopped."
)


def audit_json(
    audit: LedgerAudit, matching: Matching | None, silent: int, differences: list[str]
) -> str:
    """Return the audit as one JSON object; ``silent`` counts those done without a receipt."""
    line: dict[str, Any] = {
        "closes": not differences,
        "differences": differences,
        "accepted": audit.ledger.accepted,
        "ends": {status.value: count for status, count in audit.ledger.ends.items()},
        "difference": audit.ledger.difference,
        "rows": {status.value: count for status, count in audit.kept.items()},
        "only_counted": {status.value: count for status, count in audit.not_kept.items()},
        "live_rows_compared": audit.steady,
    }
    if matching is not None:
        line["topics"] = _topics_json(matching, silent)
    return json.dumps(line, ensure_ascii=False)


def print_audit(
    audit: LedgerAudit, matching: Matching | None, silent: int, differences: list[str]
) -> None:
    """Print tables, and one sentence: that the ledger closes, or what differs."""
    out = console()
    out.print(_ledger_table(audit))
    if matching is not None:
        out.print(_topics_table(matching, silent))
    if not audit.steady:
        typer.secho(_MOVING, fg="yellow", err=True)
    typer.secho(_sentence(differences), fg="red" if differences else "green")


def _sentence(differences: list[str]) -> str:
    if not differences:
        return "the ledger closes"
    more = len(differences) - _TOLD
    told = [*differences[:_TOLD], *([f"... and {more:,} more"] if more > 0 else [])]
    return "the ledger does not close: " + "\n  ".join(told)


def _ledger_table(audit: LedgerAudit) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for name in ("ledger", "rows kept", "only counted"):
        table.add_column(name, justify="right")
    table.add_row("accepted", f"{audit.ledger.accepted:,}", "", "")
    for status in Status:
        counted = audit.not_kept.get(status)
        only = "" if counted is None else f"{counted:,}"
        total = audit.ledger.ends.get(status, 0)
        table.add_row(status.value, f"{total:,}", f"{audit.kept[status]:,}", only)
    return table


def _topics_table(matching: Matching, silent: int) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, count in _topics(matching, silent):
        table.add_row(name, f"{count:,}")
    return table


def _topics(matching: Matching, silent: int) -> Iterator[tuple[str, int]]:
    yield "records read", matching.records
    yield "receipts", sum(map(len, matching.receipts.values()))
    yield "found as published", matching.matched
    yield "gone by retention", matching.gone
    yield "done, receipt unknown", silent
    yield "receipts without record", len(matching.missing)
    yield "records that differ", len(matching.different)
    yield "fire ids without a row", len(matching.strays)
    yield "records with two receipts", len(matching.shared)
    yield "published twice", len(matching.doubled)


def _topics_json(matching: Matching, silent: int) -> dict[str, Any]:
    counted = {name: count for name, count in _topics(matching, silent)}
    return {
        "records": matching.records,
        "receipts": counted["receipts"],
        "matched": matching.matched,
        "gone_by_retention": matching.gone,
        "receipt_unknown": silent,
        "missing": [place._asdict() for place in matching.missing],
        "different": [place._asdict() | {"differs": what} for place, what in matching.different],
        "without_row": [r.place._asdict() | {"fire_id": r.fire_id} for r in matching.strays],
        "two_receipts": [place._asdict() for place in matching.shared],
        "published_twice": {
            name: [place._asdict() for place in places] for name, places in matching.doubled.items()
        },
    }
