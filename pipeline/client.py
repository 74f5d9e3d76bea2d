"""What other programs use of the pipeline: to schedule, to give commands, to see to dead letters.

``Client`` sends to the topic a job reads. ``find_settings`` finds the settings of a state to look
into, for ``state.inspect.open_inspector``. ``dead_rows``, ``dead_by_reason`` and ``dead_list`` show
what is dead, ``plan_resubmit`` and ``resubmit`` send it again. None of it needs Spark.
"""

from typing import TYPE_CHECKING

from pipeline.config.found import find_settings
from pipeline.reasons import Reason
from pipeline.scheduling import Client, Said
from pipeline.sender import Receipt, TooLargeError
from pipeline.terms import Repeat, SameKey
from pipeline.written import ScheduleError
from state.later import later

if TYPE_CHECKING:
    from pipeline.dead import DeadFilter, dead_by_reason, dead_list, dead_rows
    from pipeline.resubmit import Plan, plan_resubmit, resubmit
else:  # who only sends needs no Arrow
    _DEAD = dict.fromkeys(("DeadFilter", "dead_by_reason", "dead_list", "dead_rows"), "dead")
    _AGAIN = dict.fromkeys(("Plan", "plan_resubmit", "resubmit"), "resubmit")
    __getattr__ = later(__name__, {n: f"pipeline.{m}" for n, m in (_DEAD | _AGAIN).items()})

__all__ = [
    "Client",
    "DeadFilter",
    "Plan",
    "Reason",
    "Receipt",
    "Repeat",
    "Said",
    "SameKey",
    "ScheduleError",
    "TooLargeError",
    "dead_by_reason",
    "dead_list",
    "dead_rows",
    "find_settings",
    "plan_resubmit",
    "resubmit",
]
