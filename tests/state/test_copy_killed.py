"""A copy that dies goes on where it was; until it is whole nobody opens it."""

import json
import os
import signal
import subprocess
import sys

import pytest
from build import cancel, tick
from copies import told

from state.crashpoint import CRASH_AT, CopyPoint
from state.errors import StateError
from state.open import open_inspector, open_store

COPY = """
import sys
from state.copying import copy
from state.delta.receive import DeltaTarget
from state.mongo.receive import MongoTarget
from state.open import open_source, open_target
from state.settings import StateSettings
DeltaTarget.part_rows = MongoTarget.part_rows = 10
there, here = (StateSettings.model_validate_json(text) for text in sys.argv[1:3])
copy(open_source(there), open_target(here, 0), 0, lambda done, total: print(done, total))
"""


def plain(settings):
    if settings.kind == "delta":
        return json.dumps({"kind": "delta", "delta": {"path": settings.delta.path}})
    mongo = {"uri": settings.mongo.uri.get_secret_value(), "database": settings.mongo.database}
    return json.dumps({"kind": "mongo", "mongo": mongo})


def copy_apart(there, here, dies=None):
    """Copy in a process of its own; return the lines it wrote."""
    environment = os.environ | ({CRASH_AT: dies} if dies else {})
    done = subprocess.run(
        [sys.executable, "-c", COPY, plain(there), plain(here)],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == (-signal.SIGKILL if dies else 0), done.stderr
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("count", [1, 7])  # at the beginning; among closed rows
def test_a_copy_that_was_killed_goes_on_where_it_was(sides, count):
    there, here = sides
    copy_apart(there, here, f"{CopyPoint.DURING_COPY}:{count}")
    for open_it in (open_store, open_inspector):
        with pytest.raises(StateError, match=r"is not finished; run `duestream state copy` again"):
            open_it(here)
    lines = copy_apart(there, here)
    there_already = {1: ("0",), 7: ("60", "55")}[count]  # a part ends with its collection
    assert lines[0].split()[0] in there_already
    assert told(here) == told(there)


def test_a_copy_killed_before_the_source_moved_on_starts_over(sides):
    there, here = sides
    copy_apart(there, here, f"{CopyPoint.DURING_COPY}:3")
    store = open_store(there)
    store.commit(tick(2, 2, [cancel(b"%d" % n, 200 + n) for n in range(20)]))
    store.close()
    lines = copy_apart(there, here)
    assert lines[0].split()[0] == "0"
    assert told(here) == told(there)
