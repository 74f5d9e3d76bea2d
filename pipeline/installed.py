"""Installs a tool once, whole or not at all, into the cache that all projects share."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from state.errors import SetupError


def installed(folder: Path, note: str, build: Callable[[Path], None]) -> Path:
    """Return ``folder``; when it is not there, ``build`` it aside and move it to its place."""
    if folder.is_dir():
        return folder
    sys.stderr.write(f"{note}, once, into {folder} ...\n")
    with workplace(folder.parent) as work:
        build(work)
        # Whoever comes second finds the folder full and is refused: the first one's will do.
        with contextlib.suppress(OSError):
            work.rename(folder)
    if not folder.is_dir():
        raise SetupError(f"{folder} cannot be written; set DUESTREAM_CACHE to a folder that can")
    return folder


def run_tool(
    command: Sequence[str | Path],
    trouble: str,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> str:
    """Run a command of this machine and return what it printed, or tell ``trouble`` and why."""
    variables = {**os.environ, **(environ or {})}
    try:
        done = subprocess.run(  # noqa: S603
            list(command), cwd=cwd, env=variables, capture_output=True, text=True
        )
    except OSError as error:
        raise SetupError(f"{trouble} ({command[0]} does not start: {error.strerror})") from error
    if done.returncode != 0:
        raise SetupError(f"{trouble} ({_reason(done.stderr + done.stdout)})")
    return done.stdout


def _reason(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "err" in line.lower() or line.startswith("E: ")]
    return (telling or lines or ["it gave no reason"])[0]


@contextlib.contextmanager
def workplace(home: Path) -> Iterator[Path]:
    """Lend a folder beside the place where its result is to be moved; it is gone afterwards."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".install-", dir=home))
    except OSError as error:
        raise SetupError(
            f"{home} cannot be written ({error.strerror}); set DUESTREAM_CACHE to a folder that can"
        ) from error
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
