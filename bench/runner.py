"""Runs scenarios one after the other on one broker, and keeps what each of them gave."""

import os
import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.executors import run_executors
from bench.measuring import measure
from bench.naive import run_naive
from bench.raw import raw_rate
from bench.results import SEED, Results
from bench.scenarios import Scenario, Store, What
from bench.stage import Stage
from pipeline.local_kafka import LocalKafka
from pipeline.local_mongo import LocalMongo
from pipeline.mongo_engine import licence

Chosen = Sequence[tuple[Store, Scenario]]
_RATES = ("publish_rate", "messages_per_second")


class Runner:
    """Starts servers and jobs when they are needed, and ends them when they are not."""

    def __init__(self, folder: Path, results: Results, console: Console) -> None:
        self._folder = folder
        self._results = results
        self._console = console
        self._servers = ExitStack()
        self._stage: Stage | None = None
        self._made: dict[str, Any] = {}
        self._mongo: LocalMongo | None = None

    def run(self, chosen: Chosen) -> None:
        """Measure all, and the raw rate before and after."""
        done: list[tuple[Store, str]] = []
        with self._servers:
            self._broker = self._servers.enter_context(LocalKafka())
            self._results.content |= {"raw": {}, "load_before": round(os.getloadavg()[0], 2)}
            self._raw("before")
            try:
                for place, (store, scenario) in enumerate(chosen):
                    self._say(f"{place + 1}/{len(chosen)} {store}: {scenario.name} ...")
                    figures = self._tried(store, scenario)
                    self._results.put(store, scenario.name, figures)
                    done.append((store, scenario.name))
                    self._compare_with_raw(done)
                    self._console.print(_short(figures))
                    if not _shares(scenario, store, chosen[place + 1 :]):
                        self._leave()
            finally:
                self._leave()
            self._raw("after")
            self._compare_with_raw(done)

    def _tried(self, store: Store, scenario: Scenario) -> dict[str, Any]:
        """Measure it; what goes wrong is told, and the others are measured all the same."""
        try:
            return self._measured(store, scenario)
        except (Exception, SystemExit) as error:
            self._console.print_exception()
            self._leave()
            return {"failed": type(error).__name__}  # the rest was printed; a log has paths in it

    def _measured(self, store: Store, scenario: Scenario) -> dict[str, Any]:
        asked: dict[str, Any] = {
            "pending": scenario.pending,
            "rate": scenario.rate,
            "count": scenario.count,
        }
        asked |= {"seconds": scenario.seconds, "ahead": list(scenario.ahead)}
        if scenario.what is What.NAIVE:
            return asked | self._naive(scenario)
        if scenario.what is What.EXECUTORS:
            return asked | run_executors(scenario.count)
        if self._stage is None:
            self._stage = self._set(store, scenario)
        watched = {"broker": self._broker.pid} | self._mongo_pid(store)
        servers = {name: pid for name, pid in watched.items() if pid is not None}
        return asked | self._made | measure(self._stage, scenario, servers)

    def _set(self, store: Store, scenario: Scenario) -> Stage:
        """Make a job with what is pending, and have it warm; a backlog is there before its job."""
        uri = self._uri() if store == "mongo" else None
        stage = Stage(self._broker, self._folder, scenario, uri, SEED)
        self._made = {}
        if scenario.what is What.BACKLOG:
            return stage
        self._say(f"  a state with {scenario.pending:,} pending is made")
        self._made = stage.make_pending(scenario.pending)
        self._say(f"  after {self._made['made_in_seconds']} s the job is started and warmed up")
        self._made |= {"first_start": stage.job.start()}
        stage.warm_up()
        return stage

    def _leave(self) -> None:
        stage, self._stage = self._stage, None
        if stage is not None:
            stage.job.stop()
            shutil.rmtree(stage.folder, ignore_errors=True)

    def _raw(self, when: str) -> None:
        self._say(f"raw transactional produce rate, {when} ...")
        self._results.content["raw"][when] = raw_rate(self._broker)
        self._console.print(self._results.content["raw"][when])
        self._results.write()

    def _compare_with_raw(self, done: Sequence[tuple[Store, str]]) -> None:
        """Put rates of this run beside the raw rate of this run, as far as it is known."""
        rates = [each["per_second"] for each in self._results.content["raw"].values()]
        raw = sum(rates) / len(rates)
        for store, name in done:
            figures = self._results.scenarios(store)[name]
            if "executors" in figures:
                continue  # that has a broker of its own, and a raw rate on it
            for rate in _RATES:
                if rate in figures:
                    figures |= {"of_raw": round(figures[rate] / raw, 3)}
        self._results.write()

    def _naive(self, scenario: Scenario) -> dict[str, Any]:
        folder = self._folder / "naive"
        told = run_naive(self._broker, folder, scenario.pending, scenario.seconds, SEED)
        shutil.rmtree(folder, ignore_errors=True)
        return {"messages_per_second": told["messages_per_second"], "naive": told}

    def _uri(self) -> str:
        if self._mongo is None:
            self._say(f"{licence('embedded')}.")
            self._mongo = self._servers.enter_context(LocalMongo(self._folder / "mongo"))
        return self._mongo.uri

    def _mongo_pid(self, store: Store) -> dict[str, int | None]:
        return {"mongo": self._mongo.pid} if store == "mongo" and self._mongo else {}

    def _say(self, text: str) -> None:
        self._console.print(f"[dim]{time.strftime('%H:%M:%S')}[/dim] {text}")


def _shares(scenario: Scenario, store: Store, rest: Chosen) -> bool:
    """Tell whether the next one plays on the same job."""
    return bool(rest) and (rest[0][0], rest[0][1].job) == (store, scenario.job)


def _short(figures: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is for the page only."""
    left_out = ("by_second", "first_ms", "last_ms", "first_start")
    return {name: value for name, value in figures.items() if name not in left_out}
