"""Gives the executors this package, where spark-submit was given it as a wheel.

Spark hands a wheel of ``--py-files`` to the driver alone: for executors it knows no such ending.
"""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def wheel_of(module: str) -> Path | None:
    """Return the wheel that the module in this file was loaded from, None if from none."""
    return next((p for p in Path(module).parents if p.suffix == ".whl" and p.is_file()), None)


def ship(spark: "SparkSession") -> None:
    """Send the wheel this runs from to all executors, under a name they load packages from."""
    wheel = wheel_of(__file__)
    if wheel is None:
        return
    folder = tempfile.mkdtemp(prefix="duestream-wheel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors may come late
    spark.sparkContext.addPyFile(str(shutil.copyfile(wheel, Path(folder, f"{wheel.stem}.zip"))))
