"""On what it was measured: the machine, the versions, the commit."""

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from pipeline.jvm import broker_jars, check_java

_PACKAGES = ("pyspark", "delta-spark", "deltalake", "confluent-kafka", "pyarrow", "pymongo")
_WRITTEN = (":(exclude)docs/benchmarks.md", ":(exclude)docs/assets/bench")


def machine() -> dict[str, object]:
    """Return what the machine is."""
    return {
        "cores": os.cpu_count(),
        "cpu": _field("/proc/cpuinfo", "model name"),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "os": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return what runs on it."""
    found = {"Python": platform.python_version(), "Java": _java()}
    found |= {name: version(name) for name in _PACKAGES}
    broker = sorted(broker_jars().glob("kafka_2.13-*.jar"))
    return found | {"Kafka broker": broker[0].stem.rpartition("-")[2] if broker else "unknown"}


def commit() -> str:
    """Return which state of the code this is; what the benchmark itself writes is no part of it."""
    name = _git("describe", "--always").stdout.strip()
    changed = _git("diff", "--quiet", "HEAD", "--", ".", *_WRITTEN).returncode
    return f"{name or 'unknown'}{'-dirty' if changed else ''}"


def _git(*words: str) -> "subprocess.CompletedProcess[str]":
    folder = Path(__file__).resolve().parents[1]
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=folder)  # noqa: S607


def _java() -> str:
    said = subprocess.run([str(check_java()), "-version"], capture_output=True, text=True)
    found = re.search(r'version "([^"]+)"', said.stderr)
    return found[1] if found else "unknown"


def _field(file: str, name: str) -> str:
    for line in Path(file).read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "unknown"
