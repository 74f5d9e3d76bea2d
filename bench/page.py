"""Writes docs/benchmarks.md and its pictures from the figures, whole."""

from pathlib import Path
from string import Template

from bench.gains import EARLIER, gains
from bench.plots import draw
from bench.results import AGAIN, ROOT, Results
from bench.scenarios import BOTH, SCENARIOS
from bench.sheet import number
from bench.tables import sheets
from bench.verdicts import stores_in

PAGE = ROOT / "docs" / "benchmarks.md"
TEMPLATE = Path(__file__).with_name("page.md")
_PICTURES = {
    "lateness": "lateness over time",
    "pending": "ticks and lateness by what is pending",
    "stages": "the stages of a tick",
    "shares": "rates as shares of the raw rate",
}
_AGAIN = (
    "These were measured once more at the same commit ([again.json](assets/bench/again.json)); the "
    "bars go by the first time:"
)
_ALWAYS = (
    "Clusters: one broker, one machine, and load and observers on the same cores as the job.",
    "Object stores and replica sets: tables are on a local disk, MongoDB is the embedded engine.",
    "10 million pending, and 10,000/s, with MongoDB: it takes some thousand inserts a second.",
)


def write_page(results: Results, page: Path) -> Path:
    """Write the page, and its pictures beside it, and return where it is."""
    drawn = draw(results, page.parent / "assets" / "bench")
    page.write_text(text(results, drawn))
    return page


def text(results: Results, drawn: dict[str, str]) -> str:
    """Return the page with links to the pictures that were drawn."""
    content = results.content
    tables = {name: sheet.markdown() for name, sheet in sheets(results).items()}
    pictures = {
        f"{name}_picture": f"![{told}](assets/bench/{drawn[name]})" if name in drawn else ""
        for name, told in _PICTURES.items()
    }
    earlier = Results.read(EARLIER)
    filled = Template(TEMPLATE.read_text()).substitute(
        tables,
        gains=gains(results, earlier).markdown(),
        again=_again(results),
        earlier_commit=earlier.content["commit"],
        earlier_date=earlier.content["date"][:10],
        **pictures,
        machine=_machine(results),
        commit=content["commit"],
        seed=content["seed"],
        date=content["date"][:10],
        ahead=_ahead(results),
        raw_cores=_raw_cores(results),
        gaps="\n".join(f"- {line}" for line in [*_ALWAYS, *_gaps(results)]),
    )
    # A picture that is not there leaves a blank line too many.
    while "\n\n\n" in filled:
        filled = filled.replace("\n\n\n", "\n\n")
    return filled


def _machine(results: Results) -> str:
    machine, versions = results.content["machine"], results.content["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"Measured on {machine['cores']} cores ({machine['cpu']}), {machine['memory_gb']} GiB, "
        f"{machine['os']}; {named}.{_load(results)}"
    )


def _load(results: Results) -> str:
    """Tell how busy the machine was with other things: a guest of that kind spoils the figures."""
    load = results.content.get("load_before")
    return "" if load is None else f" Its load average before the run was {number(load)}."


def _again(results: Results) -> str:
    """Show what was measured once more at the same commit: the tables have the first time."""
    again = Results.read(AGAIN) if AGAIN.exists() else None
    if again is None or again.content["commit"] != results.content["commit"]:
        return ""
    return f"{_AGAIN}\n\n{sheets(again)['lateness'].markdown()}"


def _ahead(results: Results) -> str:
    """Tell how long before its instant a message is known; sets differ, and so may stores."""
    runs = {store: results.scenarios(store).get("1,000/s") for store in stores_in(results)}
    spans = {s: "{:.0f} to {:.0f}".format(*run["ahead"]) for s, run in runs.items() if run}
    if len(set(spans.values())) > 1:
        return " or ".join(f"{span} (`{store}`)" for store, span in spans.items())
    return next(iter(spans.values()), "20 to 40")


def _raw_cores(results: Results) -> str:
    shares = [run["share_of_cores"] for run in results.content["raw"].values()]
    return f"{number(100 * max(shares))} %" if shares else "an unknown share"


def _gaps(results: Results) -> list[str]:
    """Name the scenarios without figures at this commit."""
    lines = []
    for store in BOTH:
        named = [s.name for s in SCENARIOS if store in s.stores]
        there = results.scenarios(store)
        left = [_left_out(s, there.get(s, {})) for s in named if not _is_measured(there.get(s, {}))]
        if left:
            listed = "; ".join(left) if len(left) < len(named) else "none of the scenarios was run"
            lines.append(f"`{store}`: {listed}.")
    return lines


def _left_out(name: str, run: dict[str, object]) -> str:
    return f"{name} (failed)" if "failed" in run else name


def _is_measured(run: dict[str, object]) -> bool:
    return any(name in run for name in ("late_ms", "cores", "messages_per_second"))
