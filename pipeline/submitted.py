"""Lets a job stop cleanly where spark-submit started it.

There the JVM comes first and has Python as a child. Whoever ends spark-submit ends the JVM, and
Python would find its session gone in the middle of a batch. So the JVM is asked to wait, as the
first thing it does at its end, until the job has stopped.
"""

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pipeline.config.kafka import DATABRICKS
from pipeline.remote import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GATEWAY = "PYSPARK_GATEWAY_PORT"  # how spark-submit tells Python where the JVM is
_BEFORE_SPARK = 1_000  # Spark's own last acts have 40; the higher goes first
_PATIENCE = 120  # seconds


def is_submitted(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether spark-submit has started this process."""
    return GATEWAY in environ or "SPARK_ENV_LOADED" in environ


def given_options() -> dict[str, str]:
    """Return the options that spark-submit was given; none if it did not start this process."""
    if GATEWAY not in os.environ:
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # connects to the JVM, which knows them
    return dict(SparkConf().getAll())


class JavaWaits:
    """Hears that the JVM is to end, tells the job to stop, and lets the JVM go after ``close``."""

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped
        self._closed = threading.Event()
        self._heard = False
        self._let_go: Callable[[], None] = lambda: None

    def listen(self, spark: "SparkSession") -> None:
        """Begin, if this is a job whose JVM may be told to end before it."""
        if GATEWAY in os.environ and DATABRICKS not in os.environ and not is_remote(spark):
            self._let_go = _ask_first(spark, self)

    def run(self) -> None:
        """Be called by the JVM, which has been told to end."""
        self._heard = True
        self._stopped.set()
        self._closed.wait(_PATIENCE)

    def close(self) -> None:
        """Let the JVM end: the job has. Unless it is about to, it need not ask any more."""
        self._closed.set()
        if not self._heard:
            self._let_go()

    class Java:
        """Says to Py4J which interface of Java this is."""

        implements = ("java.lang.Runnable",)


def _ask_first(spark: "SparkSession", waits: JavaWaits) -> Callable[[], None]:
    """Have the JVM call ``waits`` before all else at its end; return what takes that back."""
    from py4j.protocol import Py4JError
    from pyspark.java_gateway import ensure_callback_server_started

    gateway: Any = spark.sparkContext._gateway
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    thread = gateway.jvm.java.lang.Thread(waits)  # the manager wants an object with a hash
    hooks = gateway.jvm.org.apache.hadoop.util.ShutdownHookManager.get()
    seconds = gateway.jvm.java.util.concurrent.TimeUnit.SECONDS
    hooks.addShutdownHook(thread, _BEFORE_SPARK, _PATIENCE, seconds)

    def take_back() -> None:
        with suppress(Py4JError):  # it has begun to end just now
            hooks.removeShutdownHook(thread)

    return take_back
