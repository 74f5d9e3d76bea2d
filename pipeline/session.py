"""Opens the Spark session that duestream's jobs, notebooks and tests run in."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.classes import take_archive
from pipeline.config.kafka import DATABRICKS, REDACTION_REGEX
from pipeline.jvm import check_java, spark_jars
from pipeline.remote import is_remote_wanted, lacks_packages, open_remote, refuse_remote
from pipeline.shipped import ship
from pipeline.submitted import given_options, is_submitted
from state.errors import SetupError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL_MASTER = "local[*]"
_LOG_CONFIGURATION = Path(__file__).resolve().parent / "spark-log.properties"
_FILE_MANAGER = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
# The second compiler and a concurrent collector would take their share of few cores for minutes, to
# make micro-batches of some thousand rows a little quicker.
# What Spark generates to decode records has methods so large that Java would not compile them at
# all, and interpret them for ever.
_LIGHT_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-DontCompileHugeMethods"
# Options that bring the jars in another way, so that ours would come twice.
_JAR_OPTIONS = frozenset({"spark.jars", "spark.jars.packages", "spark.remote"})
_JAVA_OPTIONS = frozenset({"spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"})


def spark_session(
    app: str, master: str | None = None, options: Mapping[str, str] | None = None
) -> "SparkSession":
    """Return the session; ``options`` win over the defaults.

    A session that runs is taken, and told what steps rely on.

    Without ``master`` it runs on this machine, unless the job was started by spark-submit or on a
    platform that has a session already, or a server of Spark Connect is named.
    """
    sessions, active = _spark(), _active()
    if active is not None:
        return _told(active)
    if is_remote_wanted(options or {}):
        return _told(open_remote(app, options or {}))
    local, own = _is_local(master), _starts_java()
    if local:
        _prepare_environment()
    builder = sessions.builder.appName(app)
    if master or local:
        builder = builder.master(master or LOCAL_MASTER)
    given = {name: value for name, value in given_options().items() if name in _EVERYWHERE}
    for name, value in session_options(local, given | dict(options or {}), own).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    ship(spark)
    return spark


@contextmanager
def open_session(
    app: str,
    master: str | None = None,
    options: Mapping[str, str] | None = None,
    remote: bool = False,
) -> "Iterator[SparkSession]":
    """Lend the session and stop it afterwards, unless it was there before or is a platform's.

    Unless it may be ``remote``, a session of Spark Connect is refused.
    """
    if not remote and is_remote_wanted(options or {}):
        raise refuse_remote()
    lent = _active() is not None or DATABRICKS in os.environ
    spark = spark_session(app, master, options)
    try:
        yield spark
    finally:
        if not lent:
            spark.stop()


def session_options(local: bool, options: Mapping[str, str], own: bool = False) -> dict[str, str]:
    """Return all options of the session: the defaults, and ``options`` over them.

    ``own`` says that the job starts Java itself, so that nobody else brings the jars.
    """
    merged = dict(_EVERYWHERE)
    if local:
        merged |= _local_options()
    if (local or own) and not _JAR_OPTIONS & options.keys():
        merged["spark.jars"] = ",".join(str(jar) for jar in spark_jars())
    for name in _JAVA_OPTIONS & options.keys():  # added to, or the zone and the log would be lost
        options = {**options, name: f"{merged.get(name, '')} {options[name]}".strip()}
    return merged | dict(options)


_EVERYWHERE = {
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",  # of two headers with one name
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # In any other zone Delta verifies the whole state again on each commit.
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.executor.extraJavaOptions": "-Duser.timezone=UTC",
    "spark.redaction.regex": REDACTION_REGEX,
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.databricks.delta.autoCompact.enabled": "false",
    "spark.databricks.delta.optimizeWrite.enabled": "false",
}


def _local_options() -> dict[str, str]:
    quiet = f"-Dlog4j2.configurationFile={_LOG_CONFIGURATION.as_uri()}"
    return {
        "spark.driver.extraJavaOptions": " ".join(
            ["-Duser.timezone=UTC", quiet, _LIGHT_JVM, *take_archive()]
        ),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.python.unix.domain.socket.enabled": "true",
        # The default one starts processes for every file it writes.
        "spark.sql.streaming.checkpointFileManagerClass": _FILE_MANAGER,
        "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
        # In so many tasks Delta lists the files of a table to drop old ones; 10,000 if unsaid.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    }


def _told(spark: "SparkSession") -> "SparkSession":
    """Tell a session that runs what a batch would otherwise tell another time by."""
    spark.conf.set("spark.sql.session.timeZone", _EVERYWHERE["spark.sql.session.timeZone"])
    return spark


def _is_local(master: str | None) -> bool:
    if master is not None:
        return master.startswith("local")
    return _starts_java()


def _starts_java() -> bool:
    return not is_submitted() and DATABRICKS not in os.environ


def _prepare_environment() -> None:
    check_java()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _active() -> "SparkSession | None":
    try:
        active: SparkSession | None = _spark().getActiveSession()
    except ImportError as error:  # with SPARK_REMOTE it looks for a session of Spark Connect
        raise lacks_packages() from error
    return active


def _spark() -> "type[SparkSession]":
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise SetupError("PySpark is not installed; pip install 'duestream[spark]'") from error
    return SparkSession
