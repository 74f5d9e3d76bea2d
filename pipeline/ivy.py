"""Fetches jars once, with the Ivy that PySpark ships, into a cache that all projects share."""

import contextlib
import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pipeline.installed import workplace
from state.errors import SetupError

ATTEMPTS = 3
_TROUBLE = ("not found", "download failed", "access error", "exception", "error")


@dataclass(frozen=True, slots=True)
class Ivy:
    """The jars of one Ivy file, a folder for each of its configurations."""

    java: Callable[[], Path]
    jars: Path
    cache: Path

    def folder(self, configuration: str) -> Path:
        """Return the folder with the jars of ``configuration``; fetch them if it is not there."""
        folder = self._home() / configuration
        if not folder.is_dir():
            self._fetch(configuration, folder)
        return folder

    def _home(self) -> Path:
        digest = hashlib.sha256(self.jars.read_bytes()).hexdigest()[:16]
        return self.cache / "jars" / digest

    def _fetch(self, configuration: str, folder: Path) -> None:
        java = self.java()
        sys.stderr.write(f"fetching the jars for {configuration}, once, into {folder} ...\n")
        with workplace(folder.parent) as work:
            command = self._command(java, configuration, work)
            _retrieve(command, configuration)
            # Whoever comes second finds the folder full and is refused: the first one's will do.
            with contextlib.suppress(OSError):
                (work / configuration).rename(folder)
        if not folder.is_dir():
            raise SetupError(
                f"{folder} cannot be written; set DUESTREAM_CACHE to a folder that can"
            )

    def _command(self, java: Path, configuration: str, work: Path) -> list[str]:
        settings = self.cache / "ivysettings.xml"
        return [
            str(java),
            *proxy_flags(os.environ),
            *("-jar", str(_ivy_jar()), "-m2compatible"),
            *(("-settings", str(settings)) if settings.exists() else ()),
            *("-ivy", str(self.jars), "-cache", str(work / "ivy"), "-confs", configuration),
            *("-types", "jar", "bundle"),
            *("-retrieve", f"{work}/[conf]/[artifact]-[revision].[ext]"),
        ]


def _retrieve(command: list[str], configuration: str) -> None:
    for _ in range(ATTEMPTS):
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
        if done.returncode == 0:
            return
    reason = _reason(done.stdout + done.stderr)
    raise SetupError(
        f"the jars for {configuration} could not be fetched ({reason}); "
        "see that this machine reaches a Maven repository (HTTPS_PROXY is respected, and so is an "
        "ivysettings.xml in the folder DUESTREAM_CACHE), then try again"
    )


def _reason(output: str) -> str:
    lines = [line.strip(" :\t") for line in output.splitlines()]
    telling = [line for line in lines if any(word in line.lower() for word in _TROUBLE)]
    return (telling or lines or ["Ivy said nothing"])[0]


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = [jar for folder in folders for jar in Path(folder, "jars").glob("ivy-*.jar")]
    if not found:
        raise SetupError("PySpark is not installed; pip install 'duestream[spark]'")
    return found[0]


def proxy_flags(environ: Mapping[str, str]) -> list[str]:
    """Say to Java what HTTPS_PROXY and HTTP_PROXY say to everybody else."""
    flags = []
    for scheme in ("https", "http"):
        value = environ.get(f"{scheme}_proxy") or environ.get(f"{scheme.upper()}_PROXY")
        proxy = urlsplit(value if value and "://" in value else f"http://{value or ''}")
        if proxy.hostname:
            port = proxy.port or 80
            flags += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={port}"]
    return flags
