"""Tells which messages are paused: while they are, they are due beyond all times."""

from typing import Any

from state.row import DUE, PARKED, SCHEDULED


def is_paused(row: dict[str, Any]) -> bool:
    """Tell whether a row is held back."""
    return row[DUE] is not None and row[DUE] >= PARKED


def instant_of(row: dict[str, Any]) -> int:
    """Return when a row is due, or was when it was paused."""
    return int(row[SCHEDULED] if is_paused(row) else row[DUE])
