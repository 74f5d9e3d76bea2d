"""Draws the samples of a soak over time, with a line for every kill."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from bench.soak_verdict import Sample

_PANELS: dict[str, dict[str, str]] = {
    "memory, MB": {"jvm_mb": "JVM", "heap_mb": "of it live", "python_mb": "Python"},
    "tick, ms": {"tick_p50_ms": "p50", "tick_p95_ms": "p95"},
    "lateness, ms": {"late_p50_ms": "p50", "late_p99_ms": "p99"},
    "pending": {"pending": "pending"},
    "files": {
        "files": "of the state",
        "log_files": "of Delta's logs",
        "checkpoint_files": "of Spark's checkpoint",
    },
    "disk, MB": {"state_mb": "the state, without what is closed", "log_mb": "Delta's logs"},
}
_LOGARITHMIC = ("tick, ms", "lateness, ms")
_COLOURS = {"job": "tab:red", "broker": "tab:purple", "database": "tab:brown"}


def draw_soak(samples: Sequence[Sample], kills: Sequence[tuple[float, str]], path: Path) -> Path:
    """Draw six panels into a PNG file and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure, panels = plt.subplots(3, 2, figsize=(12, 10), sharex=True)
    for axes, (title, lines) in zip(panels.flat, _PANELS.items(), strict=True):
        for name, label in lines.items():
            known = [(s["second"] / 60, s[name]) for s in samples if s[name] is not None]
            if any(value for _, value in known):
                axes.plot(*zip(*known, strict=True), label=label, linewidth=1.2)
        for second, who in kills:
            axes.axvline(second / 60, color=_COLOURS[who], linewidth=0.7, linestyle="dotted")
        if title in _LOGARITHMIC:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        axes.set(title=title)
        axes.grid(visible=True, alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="best", fontsize="small")
    for axes in panels[-1]:
        axes.set_xlabel(
            "minute; dotted: kill -9 of the job (red), broker (violet), database (brown)"
        )
        axes.xaxis.label.set_size("small")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
