"""The page of benchmarks says of each bar whether it was met, from the figures there are."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.bars import BARS, Verdict
from bench.page import text, write_page
from bench.results import Results
from bench.scenarios import BOTH, SCENARIOS, chosen
from tests.pages import ROOT

STEADY = {
    "pending": 10_000,
    "rate": 1000,
    "ahead": [20.0, 40.0],
    "messages": 60_000,
    "lost": 0,
    "twice": 0,
    "early": 0,
    "unwanted": 0,
    "late_ms": {"p50": 20.0, "p95": 40.0, "p99": 50.0, "p99.9": 70.0, "max": 90.0},
    "by_second": [[0, 20.0, 50.0], [1, 21.0, 52.0]],
    "ticks": 60,
    "tick_ms": {"p50": 200.0, "p95": 300.0},
    "stage_ms": dict.fromkeys(("plan", "read", "decide", "commit", "hand_over", "maintain"), 30.0),
    "cores": {"job": 0.6, "broker": 0.2},
    "peak_mb": {"job": 900, "python": 300, "jvm": 600},
    "cpu_per_million": {"job": 700.0, "broker": 200.0},
    "folds": 0,
}


def results(**scenarios: dict[str, Any]) -> Results:
    named = {name.replace("_", " "): run for name, run in scenarios.items()}
    return Results(
        {
            "commit": "0123abc",
            "seed": 7,
            "date": "2030-01-01T00:00:00+00:00",
            "machine": {"cores": 2, "cpu": "a processor", "memory_gb": 8.0, "os": "Linux"},
            "versions": {"Python": "3.11", "Java": "17"},
            "raw": {"before": {"per_second": 100_000, "share_of_cores": 0.8}},
            "scenarios": {"delta": {"1,000/s": STEADY} | named},
        }
    )


def line(page: str, beginning: str) -> str:
    return next(each for each in page.splitlines() if each.startswith(f"| {beginning}"))


def test_a_bar_that_is_met_says_so_with_its_figure() -> None:
    page = text(results(), {})
    assert line(page, "lateness p99 at 1,000/s, 6 %").endswith("| ≤ 60 ms | met: 50 ms |")


def test_a_bar_that_is_missed_says_so_with_its_figure() -> None:
    slow = STEADY | {"tick_ms": {"p50": 300.0, "p95": 900.0}}
    found = results()
    found.put("delta", "1,000/s, 10 M pending", slow)
    assert line(text(found, {}), "tick p50 at 10 M").endswith("| ≤ 1.3 | **missed: 1.5** |")


def test_what_was_not_measured_is_not_called_met() -> None:
    page = text(results(), {})
    assert line(page, "restart with 10 M").endswith("| not measured |")
    verdicts = {bar.name: bar.judged(results(), "mongo")[0] for bar in BARS}
    assert set(verdicts.values()) == {Verdict.UNKNOWN, Verdict.APART}
    assert verdicts["lateness p99 at 1,000/s, 6 % of a tick"] is Verdict.UNKNOWN
    assert verdicts["tick p50 at 10 M pending / at 10 k"] is Verdict.APART
    assert verdicts["… at 5,000/s, with folds as they come"] is Verdict.APART


def test_a_database_that_the_job_needs_counts_with_it() -> None:
    found = results()
    beside = {"cores": {"job": 0.1, "mongo": 0.2}, "peak_mb": {"job": 900, "mongo": 1_200}}
    found.put("mongo", "1,000/s", STEADY | beside)
    page = text(found, {})
    assert line(page, "processor at 1,000/s").endswith(
        "60 % of a core, behind | 30 % of a core, behind |"
    )
    assert line(page, "1,000/s (mongo) | 700").endswith("| 1,200 |")


def test_one_lost_message_misses_its_bar() -> None:
    found = results(idle=STEADY | {"lost": 1})
    assert "**missed: 1**" in line(text(found, {}), "messages lost, twice")


def test_a_rate_is_compared_with_the_raw_one() -> None:
    found = results()
    found.put("delta", "burst of 100,000", {"publish_rate": 39_000, "of_raw": 0.39})
    page = text(found, {})
    assert line(page, "publish rate of a burst").endswith("| ≥ 0.4 | **missed: 0.39** |")
    assert line(page, "a burst of 100,000").endswith("39,000 /s, ahead |")


def test_the_baseline_is_compared_from_end_to_end_and_for_the_same_work() -> None:
    found = results()
    told = {"messages_per_second": 100.0, "messages_per_second_unbounded": 3_200.0, "ratio": 60.0}
    told |= {"messages_per_second_of_work": 150.0, "ours_messages_per_second": 9_000.0}
    found.put("delta", "naive MERGE, 1 M pending", {"messages_per_second": 100.0, "naive": told})
    found.put("delta", "100,000 at once, 1 M pending", {"messages_per_second": 4_000})
    page = text(found, {})
    assert line(page, "messages a second at 1 M").endswith("| ≥ 50 | **missed: 40** |")
    assert line(page, "… the state and publishing alone").endswith("| ≥ 50 | met: 60 |")
    assert line(page, "… whatever came since").endswith("| 3,200 | 4,000 | 1.25 |")
    assert line(page, "… 1,000 a tick, without").endswith("| 150 | 9,000 | 60 |")


def test_a_scenario_that_failed_is_told_as_such() -> None:
    found = results()
    found.put("delta", "5,000/s", {"failed": "SystemExit: the job ended"})
    page = text(found, {})
    assert "5,000/s (failed); 10,000/s" in page
    assert line(page, "lateness p99 at 5,000/s, 15 %").endswith("| not measured |")


def test_what_is_left_out_is_named() -> None:
    page = text(results(), {})
    assert "- `mongo`: none of the scenarios was run." in page
    assert "5,000/s; 10,000/s" in page


def test_the_page_links_to_the_pictures_that_were_drawn(tmp_path: Path) -> None:
    page = write_page(results(), tmp_path / "benchmarks.md").read_text()
    assert "(assets/bench/lateness.png)" in page
    assert "(assets/bench/pending.png)" not in page, "one size is no comparison"
    drawn = {file.name for file in (tmp_path / "assets" / "bench").iterdir()}
    assert drawn == {"lateness.png", "stages.png"}
    assert "$" not in page.replace("$ make", "").replace("$ python", "")


def test_the_page_in_the_documentation_is_that_of_its_figures() -> None:
    found = Results.read()
    folder = ROOT / "docs" / "assets" / "bench"
    drawn = {file.stem: file.name for file in folder.glob("*.png")}
    assert (ROOT / "docs" / "benchmarks.md").read_text() == text(found, drawn)


def test_what_was_measured_again_is_shown_beside_the_first_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "again.json"
    monkeypatch.setattr("bench.page.AGAIN", file)
    assert "measured once more" not in text(results(), {})
    again = Results(results().content, file)
    again.put("delta", "1,000/s", STEADY | {"messages": 77})
    again.write()
    page = text(results(), {})
    assert "measured once more" in page
    shown = [each for each in page.splitlines() if each.startswith("| 1,000/s |")]
    assert [each.split(" | ")[1] for each in shown[:2]] == ["60,000", "77"]
    again.content["commit"] = "another"
    again.write()
    assert "measured once more" not in text(results(), {})


def test_figures_are_kept_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    found = Results(results().content, file)
    found.write()
    assert json.loads(file.read_text()) == found.content
    assert "[ 0, 20.0, 50.0 ]" in file.read_text(), "a second is a line"


@pytest.mark.parametrize("which", ["quick", "full", "trial"])
def test_scenarios_that_share_a_job_want_the_same_of_it(which: str) -> None:
    wanted: dict[tuple[str, str], tuple[int, object]] = {}
    names = [scenario.name for scenario in SCENARIOS]
    assert len(set(names)) == len(names)
    for store, scenario in chosen(which, BOTH, []):
        job = (scenario.pending, dict(scenario.delta))
        assert wanted.setdefault((store, scenario.job), job) == job
