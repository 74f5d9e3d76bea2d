"""What a job costs is read from its processes, whoever of them comes and goes."""

import os
import subprocess
import sys
import time

from bench.proc import tree
from bench.sample import Sampler

BUSY = "import time; end = time.process_time() + 0.5\nwhile time.process_time() < end: pass"


def test_a_tree_has_the_process_and_all_below_it() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        found = {process.pid: process for process in tree(os.getpid())}
        assert {os.getpid(), child.pid} <= found.keys()
        assert found[os.getpid()].part == "python"
        assert found[os.getpid()].rss > 1_000_000
        assert child.stdin is not None
        child.stdin.close()
    assert child.pid not in {process.pid for process in tree(os.getpid())}


def test_the_time_of_a_process_that_came_meanwhile_counts_whole() -> None:
    with Sampler(os.getpid, {"broker": os.getpid()}) as sampler:
        busy = subprocess.Popen([sys.executable, "-c", f"{BUSY}\ninput()"], stdin=subprocess.PIPE)
        while sum(process.cpu for process in tree(busy.pid)) < 0.3:
            time.sleep(0.1)
        time.sleep(1.1)  # it is looked at meanwhile
        busy.communicate(b"\n")
    figures = sampler.figures(1_000_000)
    assert figures["cpu_per_million"]["job"] >= 0.3
    assert figures["peak_mb"]["job"] >= figures["peak_mb"]["python"] > 0


def test_a_fold_is_seen_by_its_process() -> None:
    command = [sys.executable, "-c", "input()", "fold_process"]
    with Sampler(os.getpid, {}) as sampler:
        fold = subprocess.Popen(command, stdin=subprocess.PIPE)
        begun = time.time()
        while not sampler.folds or sampler.folds[0][1] < begun + 0.7:
            time.sleep(0.05)
        fold.communicate(b"\n")
    ((since, until),) = sampler.folds
    assert since < until
    assert sampler.figures(0)["folds"] == 1
