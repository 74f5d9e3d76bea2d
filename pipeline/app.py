"""Runs the job: what ``duestream run`` does."""

import logging
import signal
import threading
from contextlib import closing
from pathlib import Path
from types import FrameType

from pipeline.config.checks import require_runnable
from pipeline.config.settings import Settings
from pipeline.early import early
from pipeline.garbage import Sweeper
from pipeline.job import Job
from pipeline.measure import Measure
from pipeline.observe.observer import Observer
from pipeline.observe.open import observing
from pipeline.remote import (
    give_up_sooner,
    is_remote,
    is_remote_wanted,
    refuse_remote,
    require_remote_runnable,
)
from pipeline.session import open_session
from pipeline.submitted import JavaWaits
from pipeline.topics import prepare_topics

log = logging.getLogger(__name__)


def run(settings: Settings, *, once: bool = False, measure: Path | None = None) -> None:
    """Run until SIGTERM or Ctrl-C, or once over what is there."""
    require_runnable(settings)
    if is_remote_wanted(settings.spark.options):
        _require_once(settings, once)
    stopped = threading.Event()
    with closing(JavaWaits(stopped)) as java, observing(settings) as observer:
        prepare_topics(settings)
        _run(settings, once, measure, stopped, java, observer)
        log.info("stopped; everything is in the state")


def _run(
    settings: Settings,
    once: bool,
    measure: Path | None,
    stopped: threading.Event,
    java: JavaWaits,
    observer: Observer,
) -> None:
    with (
        early(settings.state) as opened,
        open_session(settings.name, settings.spark.master, settings.spark.options, once) as spark,
        closing(Sweeper()) as sweeper,
        closing(Measure(measure)) as measured,
    ):
        if is_remote(spark):
            _require_once(settings, once)
            give_up_sooner(spark)
        _stop_when_told(stopped)  # after Spark, which has a handler of its own for Ctrl-C
        java.listen(spark)
        log.info("Spark is there; the state is opened")
        with Job(spark, settings, measured, once, observer, opened) as job:

            def watch() -> bool:
                sweeper.sweep(job.is_quiet)
                return stopped.is_set()

            job.run_once(watch) if once else job.run_until(watch)


def _require_once(settings: Settings, once: bool) -> None:
    if not once:
        raise refuse_remote()
    require_remote_runnable(settings)


def _stop_when_told(stopped: threading.Event) -> None:
    """Have SIGTERM and Ctrl-C set the event; a platform that runs this in a thread has neither."""
    if threading.current_thread() is not threading.main_thread():
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
