"""Finds Java, and the jars that Spark and the local Kafka broker need."""

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pipeline.ivy import Ivy
from state.errors import DuestreamError, SetupError

OLDEST_JAVA = 17
NEWEST_TESTED_JAVA = 21
_ADVICE = f"install Java {OLDEST_JAVA} or {NEWEST_TESTED_JAVA} and set JAVA_HOME to it"
_HERE = Path(__file__).resolve().parent


def java_command(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the ``java`` to run: that of JAVA_HOME when it is set, else the one on the PATH."""
    home = environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not os.access(java, os.X_OK):
            raise SetupError(f"JAVA_HOME is {home}, where there is no bin/java; {_ADVICE}")
        return java
    found = shutil.which("java", path=environ.get("PATH"))
    if found is None:
        raise SetupError(f"Java is not installed; {_ADVICE}")
    return Path(found)


@functools.cache
def _properties(java: Path) -> dict[str, str]:
    try:
        answer = subprocess.run(  # noqa: S603
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SetupError(f"{java} does not start; {_ADVICE}") from error
    return dict(re.findall(r"^\s+(java\.\S+) = (.*)$", answer.stderr, re.MULTILINE))


def major_version(version: str) -> int:
    """Return the number people call a Java by: 17 for ``17.0.15``, 8 for ``1.8.0_402``."""
    numbers = re.findall(r"\d+", version)
    if not numbers:
        raise SetupError(f"Java calls itself version {version!r}, which is no number; {_ADVICE}")
    return int(numbers[1] if numbers[0] == "1" and len(numbers) > 1 else numbers[0])


def java_home(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the Java that will run."""
    java = java_command(environ)
    return Path(_properties(java).get("java.home", java.parent.parent))


def java_version(java: Path) -> str:
    """Return the version that a ``java`` tells of itself, such as ``17.0.15``."""
    return _properties(java).get("java.version", "")


def check_java(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the ``java`` to run, or say in one sentence why there is none that will do."""
    java = java_command(environ)
    version = java_version(java)
    major = major_version(version)
    if major < OLDEST_JAVA:
        raise SetupError(f"{java} is Java {version}, and Spark needs {OLDEST_JAVA}; {_ADVICE}")
    if major > NEWEST_TESTED_JAVA:
        _warn_untested(java, major)
    return java


@functools.cache
def _warn_untested(java: Path, major: int) -> None:
    sys.stderr.write(f"{java} is Java {major}, newer than the tested {NEWEST_TESTED_JAVA}\n")


def jars_file() -> Path:
    """Return the list of jars: beside the package in a clone, inside it when installed."""
    inside = _HERE / "jars.xml"
    return inside if inside.exists() else _HERE.parent / "conf" / "jars.xml"


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where downloads are kept: DUESTREAM_CACHE, else the user's own cache folder."""
    own = environ.get("DUESTREAM_CACHE")
    if own:
        return Path(own).absolute()
    return Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "duestream"


def spark_jars() -> list[Path]:
    """Return the jars Spark lacks to read Kafka and write Delta, fetched at the first call."""
    return sorted(_ivy().folder("spark").glob("*.jar"))


def broker_jars() -> Path:
    """Return the folder with all jars of a Kafka broker, fetched at the first call."""
    return _ivy().folder("broker")


def _ivy() -> Ivy:
    return Ivy(java=check_java, jars=jars_file(), cache=cache_folder())


def main() -> None:
    """Check this machine and fetch what is missing: ``python -m pipeline.jvm``."""
    try:
        check_java()
        spark_jars()
        broker_jars()
    except DuestreamError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
