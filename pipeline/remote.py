"""What differs where the session is one of Spark Connect: its driver is elsewhere."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pipeline.config.settings import Settings
from state.errors import ConfigError, SetupError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VARIABLES = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
_OPTION = "spark.remote"
_RETRIES = 6  # each after four times the rest of the one before, the first after 50 ms


def is_remote(spark: "SparkSession") -> bool:
    """Tell whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_remote_wanted(options: Mapping[str, str]) -> bool:
    """Tell whether a session that is opened here would be one of Spark Connect."""
    return _OPTION in options or any(name in os.environ for name in _VARIABLES)


def refuse_remote() -> SetupError:
    """Return what a job that keeps running is told there."""
    return SetupError(
        "the session here is one of Spark Connect, whose driver is elsewhere, and a job that keeps "
        "running publishes from its driver; run it with --once, on a schedule, or without "
        "SPARK_REMOTE and spark.remote (on Databricks: on classic compute with dedicated access)"
    )


def lacks_packages() -> SetupError:
    """Return what is told where a client of Spark Connect cannot be had."""
    return SetupError(
        "Spark Connect needs packages that are not installed; pip install 'duestream[connect]'"
    )


def open_remote(app: str, options: Mapping[str, str]) -> "SparkSession":
    """Connect to the server; of options it takes those that can be set while a session runs."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app)
    for name, value in options.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except ImportError as error:
        raise lacks_packages() from error
    except PySparkException as error:
        where = options.get(_OPTION) or os.environ.get("SPARK_REMOTE", "")
        why = str(error).strip().partition("\n")[0]
        raise SetupError(
            f"Spark Connect at {where.partition(';')[0]} gives no session ({why}); check that the "
            "server runs, and SPARK_REMOTE or spark.options.spark.remote"
        ) from error


def give_up_sooner(spark: "SparkSession") -> None:
    """Have the session look for a server that is gone for a minute, not for ten: it is deaf then.

    A platform's own session that cannot be told so looks for as long as it likes.
    """
    with suppress(ImportError, AttributeError):
        from pyspark.sql.connect.client.retries import DefaultPolicy

        spark.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])


def require_remote_runnable(settings: Settings) -> None:
    """Raise ConfigError where settings need a driver that is here."""
    state = settings.state
    if settings.pipeline.checkpoint is None:
        raise ConfigError(
            "pipeline.checkpoint is not set; over Spark Connect give a folder or URI that the "
            "server writes to"
        )
    writers = (("delta", state.delta.writer, "native"), ("mongo", state.mongo.writer, "driver"))
    for kind, writer, other in writers:
        if state.kind == kind and writer == "spark":
            raise ConfigError(
                f"state.{kind}.writer is spark, which needs a driver that is here; over Spark "
                f"Connect set it to {other}"
            )
