"""A table of text, for the page and for the terminal, and how figures are written in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table

NONE = "-"


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table, all text."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return it as Markdown; a sentence if there is nothing in it."""
        if not self.rows:
            return "Not measured."
        lines = [self.head, ["---", *["---:"] * (len(self.head) - 1)], *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def terminal(self) -> Table:
        """Return it for a terminal."""
        table = Table(*self.head)
        for row in self.rows:
            table.add_row(*row)
        return table


def number(value: object) -> str:
    """Write a figure as short as it may be read."""
    if not isinstance(value, int | float):
        return NONE
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def share(part: float, digits: int = 0) -> str:
    """Write a share in percent."""
    return f"{100 * part:.{digits}f} %"
