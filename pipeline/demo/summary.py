"""Sums the demo up: the ledger, and how late messages were."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.demo.screen import late_by
from pipeline.demo.watcher import Seen
from state.inspect import Ledger


def summary(ledger: Ledger, published: Sequence[Seen], due: Mapping[str, int]) -> RenderableType:
    """Return the closing picture."""
    table = Table(title="the ledger", show_header=False)
    table.add_row("accepted", str(ledger.accepted))
    for status, count in ledger.ends.items():
        table.add_row(f"  {status.value}", str(count))
    table.add_row("rejected (dead letters)", str(ledger.rejected))
    closes = ledger.difference == 0
    verdict = "it closes: nothing lost, nothing twice" if closes else f"off by {ledger.difference}"
    return Group(
        table,
        Text(verdict, style="bold green" if closes else "bold red"),
        Text(_lateness(published, due)),
    )


def _lateness(published: Sequence[Seen], due: Mapping[str, int]) -> str:
    late = sorted(x for x in (late_by(each, due) for each in published) if x is not None)
    if not late:
        return "no message was published"
    return (
        f"{len(late)} messages with a future instant came out, late by "
        f"{late[len(late) // 2]:.0f} ms in the middle and {late[-1]:.0f} ms at most by the "
        f"broker's clock; {sum(x < 0 for x in late)} were early"
    )
