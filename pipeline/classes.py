"""Finds the archive of the classes that Spark loads, with which a local session starts sooner.

Java maps such an archive into memory instead of reading, checking and linking each class again. It
takes one only where it fits (the same Java, the same jars at the same place) and does without where
not; what a job does is the same. ``pipeline.keep_classes`` makes it.
"""

import hashlib
import importlib.util
from pathlib import Path

from pipeline.jvm import cache_folder, check_java, jars_file, java_version

_SILENT = "-Xlog:disable -Xlog:all=error:stderr"  # an archive that does not fit is no news


def archive() -> Path:
    """Return the place of the archive for this Java, this Spark and our jars."""
    spec = importlib.util.find_spec("pyspark")
    spark = str(spec.origin) if spec else ""
    named = "\n".join([java_version(check_java()), spark, jars_file().read_text()])
    digest = hashlib.sha256(named.encode()).hexdigest()[:16]
    return cache_folder() / "classes" / f"{digest}.jsa"


def take_archive() -> list[str]:
    """Return what to tell Java so that it takes the archive; nothing where there is none."""
    kept = archive()
    return [f"-XX:SharedArchiveFile={kept}", _SILENT] if kept.exists() else []


def leave_archive(place: Path) -> list[str]:
    """Return what to tell Java so that it leaves an archive when it ends."""
    return [f"-XX:ArchiveClassesAtExit={place}", _SILENT]
