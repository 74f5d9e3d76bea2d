"""Named instants at which a test may have the process die, as kill -9 would end it there.

With the variable DUESTREAM_CRASH_AT set to the name of a point, or to ``name:n`` for the n-th time
it is reached, the process that reaches it kills itself. Without it a point is one comparison.
"""

import itertools
import os
import signal
from collections.abc import Callable
from enum import StrEnum

CRASH_AT = "DUESTREAM_CRASH_AT"


class Point(StrEnum):
    """The boundaries of the publish protocol and of the store's upkeep."""

    AFTER_READ = "after_read"  # the batch is read; nothing is done with it
    BEFORE_COMMIT = "before_commit"  # retracted from the outbox, not committed
    DURING_COMMIT = "during_commit"  # what it writes is there, nothing names it yet
    DURING_APPLY = "during_apply"  # committed, a part of the documents is changed (MongoDB)
    AFTER_COMMIT = "after_commit"  # claims are in the state, not in the outbox
    AFTER_HAND_OVER = "after_hand_over"
    IN_TRANSACTION = "in_transaction"  # records and marker are sent, not committed
    AFTER_TRANSACTION = "after_transaction"  # committed, nobody was told
    AFTER_TICK = "after_tick"  # Spark has not yet committed the batch
    DURING_FOLD = "during_fold"  # in ``history``, still in ``schedules``
    AFTER_FOLD_MERGE = "after_fold_merge"  # in ``schedules``, still in the changelog
    DURING_WINDOW_LOAD = "during_window_load"
    DURING_RECOVERY = "during_recovery"  # the first lane is taken over, the others are not
    AFTER_RECOVERY = "after_recovery"  # the lanes publish; nothing is read yet


class CopyPoint(StrEnum):
    """Where a copy of a state, or an import into one, may die; a job does not come here."""

    DURING_COPY = "during_copy"  # some rows are there, nothing says how many
    DURING_IMPORT = "during_import"  # some schedules are in the state, the others are not


class StagedPoint(StrEnum):
    """Where a job over Spark Connect may die besides."""

    AFTER_STAGING = "after_staging"  # the query has ended; its batches are written, none is taken
    BEFORE_CLEARING = "before_clearing"  # all are in the state, and still written down


_NAME, _, _COUNT = os.environ.get(CRASH_AT, "").partition(":")
_LAST = int(_COUNT) if _COUNT.isdigit() else 1
_TIMES = itertools.count(1)


def reach(
    point: Point | CopyPoint | StagedPoint, last_act: Callable[[], None] | None = None
) -> None:
    """Die here if the environment says so, after doing ``last_act``."""
    if point != _NAME or next(_TIMES) != _LAST:
        return
    if last_act is not None:
        last_act()
    os.write(2, f"crash point {point} is reached\n".encode())
    os.kill(os.getpid(), signal.SIGKILL)
