"""How the lines of the log look: text for people, or an object each for programs."""

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from state.errors import DuestreamError

log = logging.getLogger(__name__)

_TEXT = "%(asctime)s %(levelname)s %(message)s"
# What every record has; all else is what somebody gave with ``extra``.
_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """Writes each record as one line of JSON: time, level, logger, message, and given fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, object] = {
            "time": _instant(record.created),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _USUAL}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up_logs(level: str, form: Literal["text", "json"]) -> None:
    """Write to standard error from now on, once for the process."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if form == "json" else logging.Formatter(_TEXT))
    logging.basicConfig(level=level, handlers=[handler])
    # It writes a trace of its own for every error of the JVM; the job raises those that matter.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    # Its exporters complain of every single push; whoever asked for one says it once.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)


@contextmanager
def last_words(form: Literal["text", "json"]) -> Iterator[None]:
    """Have the sentence that ends a job be a line like the others, where those are JSON."""
    try:
        yield
    except DuestreamError as error:
        if form == "text":
            raise
        log.error("%s", error)
        sys.exit(2)


def _instant(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
