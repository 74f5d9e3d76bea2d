"""Writes spans of time the way a settings file gives them."""

from state.duration import MICROS


def write_duration(micros: int) -> str:
    """Return the shortest text that reads as ``micros`` with one unit: ``90s``, ``1500ms``."""
    for unit in ("d", "h", "m", "s", "ms"):
        if micros and micros % MICROS[unit] == 0:
            return f"{micros // MICROS[unit]}{unit}"
    return f"{micros}us" if micros else "0s"
