"""Draws the demo: what is pending, what was published and how late, what was refused."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pipeline.demo.watcher import Seen
from state.inspect import Stats
from state.row import Status

ROWS = 10


def screen(
    stats: Stats | None,
    waiting: Sequence[Mapping[str, object]],
    published: Sequence[Seen],
    dead: Sequence[Seen],
    due: Mapping[str, int],
    now: int,
) -> RenderableType:
    """Return the whole picture at ``now`` (microseconds)."""
    sides = Table.grid(expand=True, padding=(0, 1))
    sides.add_column(ratio=1)
    sides.add_column(ratio=1)
    sides.add_row(_waiting(waiting, now), _published(published, due))
    return Group(_headline(stats, now), sides, _dead(dead))


def _headline(stats: Stats | None, now: int) -> Panel:
    clock = datetime.fromtimestamp(now // 1_000_000, UTC).strftime("%H:%M:%S")
    if stats is None:
        return Panel(Text(f"{clock}  the state is being made", style="dim"))
    counts = "   ".join(
        f"{status.value} {count}" for status, count in stats.ledger.ends.items() if count
    )
    return Panel(Text(f"{clock}   accepted {stats.ledger.accepted}   {counts}", style="bold"))


def _waiting(rows: Sequence[Mapping[str, object]], now: int) -> Panel:
    table = _table("key", "goes to", "due in")
    for row in rows[:ROWS]:
        left = max((int(str(row["due"])) - now) / 1e6, 0)
        claimed = "bold" if row["status"] == Status.CLAIMED else ""
        table.add_row(str(row["key"]), str(row["topic"]), f"{left:.1f} s", style=claimed)
    return Panel(table, title=f"pending ({len(rows)}), bold: in the outbox", height=ROWS + 3)


def _published(seen: Sequence[Seen], due: Mapping[str, int]) -> Panel:
    table = _table("key", "message", "late by")
    for each in reversed(seen[-ROWS:]):
        table.add_row(each.key, each.text, lateness(each, due))
    return Panel(table, title=f"published ({len(seen)})", height=ROWS + 3)


def _table(first: str, second: str, last: str) -> Table:
    table = Table(expand=True, box=None)
    table.add_column(first, no_wrap=True, min_width=11)
    table.add_column(second, no_wrap=True, ratio=1)
    table.add_column(last, no_wrap=True, min_width=7, justify="right")
    return table


def _dead(seen: Sequence[Seen]) -> Panel:
    lines = [Text(f"{each.key}: {each.reason} · {each.text}") for each in seen] or [Text("none")]
    return Panel(Group(*lines), title=f"dead letters ({len(seen)})")


def lateness(seen: Seen, due: Mapping[str, int]) -> str:
    """Say how long after its instant a message came out."""
    late = late_by(seen, due)
    return "" if late is None else f"{late:.0f} ms"


def late_by(seen: Seen, due: Mapping[str, int]) -> float | None:
    """Return the milliseconds from the due instant to the broker's append, if the due is known.

    What was due before it was even sent is not late by any fault of ours.
    """
    instant = due.get(seen.key)
    return None if instant is None else seen.at - instant / 1000
