"""Draws how late messages came out, second by second."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

_FLOOR = 1  # milliseconds; a logarithmic axis has no zero


def draw(runs: dict[str, dict], path: Path) -> Path:
    """Draw p50 and p99 of each run over its seconds into a PNG file, and return its path."""
    path.parent.mkdir(exist_ok=True)
    figure, axes = plt.subplots(figsize=(10, 5))
    for name, run in runs.items():
        seconds, middle, worst = zip(*run["by_second"], strict=True)
        (line,) = axes.plot(seconds, [max(ms, _FLOOR) for ms in middle], label=f"{name}: p50")
        axes.plot(
            seconds,
            [max(ms, _FLOOR) for ms in worst],
            linestyle="dashed",
            color=line.get_color(),
            label=f"{name}: p99",
        )
    axes.set(yscale="log", xlabel="second of the run", ylabel="lateness, ms")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    return path
