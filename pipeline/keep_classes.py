"""Makes the archive of Spark's classes: ``python -m pipeline.keep_classes``, once on a machine.

A small job takes one event to its topic and leaves what it has loaded.
"""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from pipeline.classes import archive, leave_archive
from pipeline.client import Client
from pipeline.installed import workplace
from pipeline.local_kafka import LocalKafka
from state.errors import DuestreamError

_KEPT = 3  # archives, of some 180 MB
_LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)


def main() -> None:
    """Make the archive if it is not there; without one everything works, only slower."""
    try:
        kept = archive()
        if not kept.exists():
            sys.stderr.write("keeping the classes that Spark loads, once ...\n")
            _keep(kept)
    except DuestreamError as error:
        sys.exit(f"error: {error}")


def _keep(kept: Path) -> None:
    with workplace(kept.parent) as work, LocalKafka() as broker:
        broker.create_topics(["in", "out"])
        with Client(broker.bootstrap_servers, topic="in") as client:
            client.schedule("x", topic="out", key="k", at=_LONG_AGO)
        made = work / "spark.jsa"
        java = {"spark.driver.extraJavaOptions": " ".join(leave_archive(made))}
        settings = {
            "kafka.bootstrap_servers": broker.bootstrap_servers,
            "sources": json.dumps([{"topic": "in"}]),
            "outputs.allow": json.dumps(["out"]),
            "pipeline.checkpoint": str(work / "checkpoint"),
            "state.delta.path": str(work / "state"),
            "spark.options": json.dumps(java),
        }
        flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        # Java writes the archive after the job is gone; its output is read until Java ends.
        run = [sys.executable, "-m", "pipeline.cli.main", "run", "--once", *flags]
        done = subprocess.run(run, capture_output=True, text=True)  # noqa: S603
        if done.returncode == 0 and made.exists():
            made.rename(kept)
            forget_others(kept)
        else:
            sys.stderr.write(f"this Java keeps no classes: jobs start as before\n{done.stderr}")


def forget_others(kept: Path) -> None:
    """Remove all archives but the newest ones: each clone and each version of Spark makes one."""
    archives = sorted(kept.parent.glob(f"*{kept.suffix}"), key=lambda path: path.stat().st_mtime)
    for old in archives[:-_KEPT]:
        old.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
