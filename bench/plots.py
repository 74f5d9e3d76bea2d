"""Draws what was measured: lateness over time, ticks by what is pending, stages, shares of raw."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, ScalarFormatter

from bench.bars import K10, M1, M10
from bench.measuring import STAGES
from bench.results import Results

_FLOOR = 1  # milliseconds; a logarithmic axis has no zero
_OVER_TIME = (K10, "5,000/s", "10,000/s", M10)
_RATES = ("publish_rate", "messages_per_second")
Runs = dict[str, dict[str, Any]]


def draw(results: Results, folder: Path, store: str = "delta") -> dict[str, str]:
    """Draw what there are figures for; return the names of the files, by what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    runs = results.scenarios(store)
    drawn = {}
    for name, picture in _PICTURES.items():
        file = folder / f"{name}.png"
        figure, axes = plt.subplots(figsize=(10, 5))
        if picture(axes, runs):
            figure.savefig(file, dpi=110, bbox_inches="tight")
            drawn[name] = file.name
        else:
            file.unlink(missing_ok=True)
        plt.close(figure)
    return drawn


def _lateness(axes: Axes, runs: Runs) -> bool:
    shown = [name for name in _OVER_TIME if "by_second" in runs.get(name, {})]
    for name in shown:
        seconds, middle, worst = zip(*runs[name]["by_second"], strict=True)
        (line,) = axes.plot(seconds, [max(ms, _FLOOR) for ms in middle], label=f"{name}: p50")
        axes.plot(
            seconds,
            [max(ms, _FLOOR) for ms in worst],
            linestyle="dashed",
            color=line.get_color(),
            label=f"{name}: p99",
        )
    axes.set(yscale="log", ylim=(1, None), xlabel="second of the run", ylabel="lateness, ms")
    axes.set_title("How late messages were, second by second")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())
    _legend(axes)
    return bool(shown)


def _pending(axes: Axes, runs: Runs) -> bool:
    found = {n: runs[n] for n in (K10, M1, M10) if "tick_ms" in runs.get(n, {})}
    labels = [f"{run['pending']:,}" for run in found.values()]
    figures = {
        "tick p50": [run["tick_ms"]["p50"] for run in found.values()],
        "tick p95": [run["tick_ms"]["p95"] for run in found.values()],
        "lateness p99": [run["late_ms"]["p99"] for run in found.values()],
    }
    for place, (name, values) in enumerate(figures.items()):
        bars = axes.bar(
            [n + 0.27 * (place - 1) for n in range(len(found))], values, 0.25, label=name
        )
        axes.bar_label(bars, fmt="%.0f", padding=2)
    axes.set_xticks(range(len(found)), labels)
    axes.set(xlabel="messages pending far ahead", ylabel="milliseconds")
    axes.set_title("1,000 messages a second, by what is pending")
    _legend(axes)
    return len(found) > 1


def _stages(axes: Axes, runs: Runs) -> bool:
    shown = {name: run for name, run in runs.items() if "stage_ms" in run and run["rate"]}
    found = {name: run["stage_ms"] for name, run in shown.items()}
    left = [0.0] * len(found)
    for stage in STAGES:
        widths = [stages[stage] for stages in found.values()]
        axes.barh(list(found), widths, left=left, label=stage)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set(xlabel="milliseconds, on average")
    axes.set_title("Where a tick's time goes")
    _legend(axes)
    return bool(found)


def _legend(axes: Axes) -> None:
    """Say beside the picture what is what: in it there is always something in the way."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _shares(axes: Axes, runs: Runs) -> bool:
    found = {name: 100 * run["of_raw"] for name, run in runs.items() if "of_raw" in run}
    bars = axes.barh(list(found), list(found.values()))
    axes.bar_label(bars, fmt="%.0f %%", padding=3)
    axes.axvline(100, color="grey", linestyle="dashed")
    axes.invert_yaxis()
    axes.set(xlabel="% of what a transactional producer does alone on this machine")
    axes.set_title("Rates as shares of the raw rate")
    return bool(found)


_PICTURES: dict[str, Callable[[Axes, Runs], bool]] = {
    "lateness": _lateness,
    "pending": _pending,
    "stages": _stages,
    "shares": _shares,
}
