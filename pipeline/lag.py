"""Tells how many records a query has left behind on its input topics."""

import json
import logging
import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from pipeline.observe.observer import Observer

log = logging.getLogger(__name__)

_LOOK_EVERY = 5.0  # seconds

Offsets = Mapping[str, Mapping[str, int]]  # by topic and partition


class Lag:
    """Looks at a query's progress now and then, if anybody listens."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._looked = time.monotonic()

    def look(self, query: StreamingQuery) -> None:
        """Tell the observer, if it is time to."""
        if not self._observer.listens or time.monotonic() - self._looked < _LOOK_EVERY:
            return
        self._looked = time.monotonic()
        try:
            progress = query.lastProgress
            if progress is not None:
                self._observer.lagged(behind(progress["sources"]))
        except Exception:
            log.warning("how far the query is behind is not known", exc_info=True)
            self._looked = math.inf  # once is enough


def behind(sources: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return by topic how many records lie beyond the end of a batch; the clock has no topics."""
    lag: dict[str, int] = {}
    for source in sources:
        end, latest = _offsets(source["endOffset"]), _offsets(source["latestOffset"])
        for topic, partitions in latest.items():
            done = end.get(topic, {})
            lag[topic] = lag.get(topic, 0) + sum(
                max(offset - done.get(partition, offset), 0)
                for partition, offset in partitions.items()
            )
    return lag


def _offsets(text: object) -> Offsets:
    try:
        read = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    if not isinstance(read, dict):
        return {}
    return {topic: each for topic, each in read.items() if isinstance(each, dict)}
