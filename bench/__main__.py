"""Measures, and writes docs/benchmarks.md: ``make bench``, ``make bench-full``."""

import argparse
import os
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.page import PAGE, write_page
from bench.results import AGAIN, FILE, ROOT, Results
from bench.runner import Runner
from bench.scenarios import BOTH, SCENARIOS, chosen
from bench.tables import terminal

CACHE = "DUESTREAM_CACHE"
TRIAL = ROOT / "build" / "bench"

console = Console(width=130)


def main() -> None:
    """Run what was asked for; what was measured at this commit before stays."""
    given = _options().parse_args()
    if given.list:
        console.print(_listed())
        return
    if given.page:
        console.print(f"written: {write_page(Results.read(), PAGE)}")
        return
    if not Path("/proc/self/stat").exists():
        raise SystemExit("error: processor time and memory are read from /proc; measure on Linux")
    for name in [each for each in os.environ if each.startswith("DUESTREAM_") and each != CACHE]:
        del os.environ[name]  # a setting of the shell would be measured too
    stores = BOTH if given.store == "both" else (given.store,)
    trial = given.set == "trial"
    again = given.again and not trial  # trials have no page to stand on beside the first time
    file, page = (TRIAL / "results.json", TRIAL / PAGE.name) if trial else (FILE, PAGE)
    results = Results.begin(AGAIN if again else file)
    with tempfile.TemporaryDirectory(prefix="duestream-bench-") as folder:
        Runner(Path(folder), results, console).run(chosen(given.set, stores, given.only))
    for table in terminal(results):
        console.print(table)
    shown = Results.read() if again else results
    console.print(f"figures: {file.parent}", f"page: {write_page(shown, page)}", sep="\n")


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    options.add_argument(
        "--set",
        choices=["quick", "full", "trial"],
        default="quick",
        help="trial: everything, so small that it only shows that it works; written below build/",
    )
    options.add_argument("--store", choices=[*BOTH, "both"], default="delta")
    names = [scenario.name for scenario in SCENARIOS]
    options.add_argument(
        "--only", nargs="+", default=[], choices=names, metavar="NAME", help="these scenarios only"
    )
    options.add_argument(
        "--again", action="store_true", help="once more: the page shows both, the first one counts"
    )
    options.add_argument("--list", action="store_true", help="list the scenarios, and end")
    options.add_argument(
        "--page", action="store_true", help="write the page anew from the figures there are"
    )
    return options


def _listed() -> Table:
    table = Table("scenario", "what happens", "pending", "job", "stores", "quick")
    for each in SCENARIOS:
        stores, quick = ", ".join(each.stores), "yes" if each.quick else ""
        table.add_row(each.name, each.what, f"{each.pending:,}", each.job, stores, quick)
    return table


if __name__ == "__main__":
    main()
