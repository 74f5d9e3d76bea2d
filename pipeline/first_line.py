"""Reads and writes a small file where Spark reads and writes: beside a checkpoint.

Where Spark runs on this machine and the place is on its disk, Spark is left out: its first job of
all takes a second, and here it would be this one.
"""

import os
import re
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipeline.remote import is_remote

_FILE = re.compile(r"file:(?://)?(/.*)")
_HIDDEN = ("_", ".")  # what Spark leaves beside the files that it wrote


def first_line(spark: SparkSession, path: str) -> str | None:
    """Return the first line of a file, or of those in a folder; None when there is none."""
    place = _on_disk(spark, path)
    if place is not None:
        return _read(place)
    try:
        line = spark.read.text(path).first()
    except AnalysisException:  # no such path
        return None
    return str(line[0]) if line else None


def write_line(spark: SparkSession, path: str, line: str) -> None:
    """Write a folder with a file of one line, in place of one that may be there."""
    place = _on_disk(spark, path)
    if place is None or place.exists():
        spark.range(1).select(F.lit(line)).write.mode("overwrite").text(path)
        return
    place.mkdir(parents=True)
    unfinished = place / "_part"
    with unfinished.open("w") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(place / "part-00000.txt")


def _on_disk(spark: SparkSession, path: str) -> Path | None:
    """Return the place if it is on a disk of this machine, where Spark runs too."""
    if is_remote(spark) or not (spark.sparkContext.master or "").startswith("local"):
        return None
    if found := _FILE.fullmatch(path):
        return Path(found[1])
    default = spark.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS") or "file:///"
    # Spark takes other paths from where Java runs, which need not be where Python does.
    return Path(path) if path.startswith("/") and default.startswith("file:") else None


def _read(place: Path) -> str | None:
    files = [place] if place.is_file() else sorted(place.glob("*"))
    shown = (file for file in files if file.is_file() and not file.name.startswith(_HIDDEN))
    for file in shown:
        with file.open(encoding="utf-8", errors="replace") as content:
            line = content.readline()
        if line:
            return line.rstrip("\n")
    return None
