"""Tells a Kafka that is away from a query that is broken, and waits between two tries."""

import logging
import re
import time
from collections.abc import Callable

from pyspark.errors import PySparkException, StreamingQueryException

from state.errors import DuestreamError


class QueryError(DuestreamError):
    """The streaming query ended by itself."""


log = logging.getLogger(__name__)

_AWAY = re.compile(
    r"org\.apache\.kafka\.common\.errors\."
    r"(?:Timeout|Disconnect|Network|CoordinatorNotAvailable|LeaderNotAvailable|NotLeader\w*"
    r"|BrokerNotAvailable|UnknownServer)Exception"
    r"|Failed to create new KafkaAdminClient|No resolvable bootstrap urls"
)
_OVERTAKEN = "CONCURRENT_STREAM_LOG_UPDATE"  # Spark: the batch is in the checkpoint already
_SHORTEST = 1.0
_LONGEST = 30.0


def is_kafka_away(error: Exception) -> bool:
    """Tell whether a query ended because no broker answered."""
    return _AWAY.search(str(error)) is not None


def told(error: PySparkException) -> QueryError:
    """Return the end of a query in a sentence; the trace is logged for those who need it."""
    log.debug("the query ended", exc_info=error)
    if _OVERTAKEN in str(error):
        return QueryError(
            "another job has gone on with this one's checkpoint (pipeline.checkpoint) meanwhile; "
            "this one stops. What was committed is in the state. Run one job per state and "
            "checkpoint; if no other runs, start this one again"
        )
    return QueryError(
        f"the query ended: {cause_of(error)}; what was committed is in the state. Mend the cause "
        "and start again; --set log.level=DEBUG shows the whole trace"
    )


def cause_of(error: Exception) -> str:
    """Return the innermost cause that a trace of Java's names."""
    causes = re.findall(r"(?:Caused by: |^)([\w.$]+(?:Exception|Error): [^\n]+)", str(error), re.M)
    why: str = causes[-1] if causes else str(error).partition("\n")[0]
    return why[:500]


class Pauses:
    """Waits longer from try to try, and briefly again once something was read in between."""

    def __init__(self) -> None:
        self._pause = _SHORTEST
        self._count = -1

    def after(
        self, error: StreamingQueryException, count: int, stopped: Callable[[], bool]
    ) -> None:
        """Wait before the next try; ``count`` is how many batches there were so far."""
        self._pause = _SHORTEST if count > self._count else min(2 * self._pause, _LONGEST)
        self._count = count
        found = _AWAY.search(str(error))
        log.warning(
            "Kafka cannot be reached (%s); reading goes on when it is back, trying again in %.0f s",
            found.group().rpartition(".")[2] if found else "no answer",
            self._pause,
        )
        until = time.monotonic() + self._pause
        while time.monotonic() < until and not stopped():
            time.sleep(0.1)
