"""Runs the job: what ``duestream run`` does."""

import logging
import signal
import threading
from contextlib import closing
from pathlib import Path
from types import FrameType

from pipeline.config.checks import require_runnable
from pipeline.config.settings import Settings
from pipeline.garbage import Sweeper
from pipeline.job import Job
from pipeline.measure import Measure
from pipeline.session import spark_session
from pipeline.topics import prepare_topics

log = logging.getLogger(__name__)


def run(settings: Settings, *, once: bool = False, measure: Path | None = None) -> None:
    """Run until SIGTERM or Ctrl-C, or once over what is there."""
    require_runnable(settings)
    prepare_topics(settings)
    spark = spark_session(settings.name, settings.spark.master, settings.spark.options)
    stopped = _told_to_stop()  # after Spark, which has a handler of its own for Ctrl-C
    try:
        with (
            closing(Sweeper()) as sweeper,
            closing(Measure(measure)) as measured,
            Job(spark, settings, measured, once) as job,
        ):

            def watch() -> bool:
                sweeper.sweep(job.is_quiet)
                return stopped.is_set()

            job.run_once(watch) if once else job.run_until(watch)
    finally:
        spark.stop()
    log.info("stopped; everything is in the state")


def _told_to_stop() -> threading.Event:
    """Return an event that SIGTERM and Ctrl-C set."""
    stopped = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    return stopped
