"""Says of each bar how it stands, store by store."""

from collections.abc import Callable, Sequence

from bench.bars import Bar, Verdict
from bench.results import Results
from bench.scenarios import BOTH
from bench.sheet import Sheet, number

_AHEAD = {Verdict.MET: "ahead", Verdict.MISSED: "behind"}


def judged(
    results: Results, bars: Sequence[Bar], bound: str, said: Callable[[Bar, Verdict, float], str]
) -> Sheet:
    """Return one line for each bar, as ``said`` puts it."""
    stores, rows = stores_in(results), []
    for bar in bars:
        told = []
        for store in stores:
            held, figure = bar.judged(results, store)
            told.append(held.value if figure is None else said(bar, held, figure))
        sign = f"{bar.sign} " if bound == "bound" else ""
        rows.append([bar.name, f"{sign}{number(bar.bound)} {bar.unit}".strip(), *told])
    return Sheet(["", bound, *stores], rows)


def verdict(bar: Bar, held: Verdict, figure: float) -> str:
    """Say whether a bar is met, and by which figure."""
    text = f"{held.value}: {number(figure)} {bar.unit}".strip()
    return f"**{text}**" if held is Verdict.MISSED else text


def against(bar: Bar, held: Verdict, figure: float) -> str:
    """Say whether it is ahead of another program."""
    return f"{number(figure)} {bar.unit}, {_AHEAD[held]}"


def stores_in(results: Results) -> list[str]:
    """Return the stores that anything was measured of; Delta in any case."""
    return [store for store in BOTH if store == "delta" or results.scenarios(store)]
