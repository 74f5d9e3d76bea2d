"""Fetches a newer C library, or another package, where that of the machine is too old."""

import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.installed import run_tool
from state.errors import SetupError

_PACKAGES = ("libc6", "libgcc-s1", "libstdc++6")
_NEWER = {"debian": "trixie", "ubuntu": "noble"}
_PLACES = {
    "x86_64": ("x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
    "aarch64": ("aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
}


def is_older_than(major: int, minor: int) -> bool:
    """Tell whether this machine's GNU C library is older; one without it (macOS) is not."""
    if sys.platform != "linux" or "CS_GNU_LIBC_VERSION" not in os.confstr_names:
        return False
    numbers = re.findall(r"\d+", os.confstr("CS_GNU_LIBC_VERSION") or "")
    return bool(numbers) and tuple(map(int, numbers[:2])) < (major, minor)


def loader(folder: Path) -> list[str]:
    """Return what to put before a command so that it runs with the library in ``folder``."""
    triplet, name = _places()
    ours = folder / "usr" / "lib" / triplet
    return [str(ours / name), "--library-path", f"{ours}:/usr/lib/{triplet}:/lib/{triplet}"]


def fetch_libc(folder: Path) -> None:
    """Unpack the C library of this distribution's later release into ``folder``."""
    _places()
    fetch_newer(folder, "C library", _PACKAGES)


def fetch_newer(folder: Path, what: str, packages: Sequence[str]) -> None:
    """Unpack packages of this distribution's later release into ``folder``."""
    for tool in ("apt-get", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise SetupError(f"this machine's {what} is too old, and it has no {tool}")
    apt = _Apt(folder / "apt", what)
    apt.write_sources(_release())
    apt.run("update")
    apt.run("download", *packages)
    for package in apt.home.glob("*.deb"):
        run_tool(["dpkg-deb", "-x", package, folder], f"{package.name} could not be unpacked")
    shutil.rmtree(apt.home)


def _places() -> tuple[str, str]:
    places = _PLACES.get(platform.machine())
    if places is None:
        raise SetupError(f"there is no newer C library for {platform.machine()}")
    return places


def _release() -> Mapping[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


@dataclass(frozen=True, slots=True)
class _Apt:
    """An apt that has lists, a cache and sources of its own: the machine's stay untouched."""

    home: Path
    what: str

    def write_sources(self, release: Mapping[str, str]) -> None:
        distribution, codename = release.get("ID", ""), release.get("VERSION_CODENAME", "")
        newer = _NEWER.get(distribution)
        listed = run_tool(["apt-get", "update", "--print-uris"], "apt-get names no sources")
        site = re.search(rf"^'(\S+)/dists/{re.escape(codename)}/InRelease'", listed, re.MULTILINE)
        if newer is None or site is None:
            raise SetupError(f"this machine's {self.what} is too old, and {distribution} has none")
        keys = Path(f"/usr/share/keyrings/{distribution}-archive-keyring.gpg")
        signed = f" signed-by={keys}" if keys.exists() else ""
        for part in ("parts", "lists/partial", "cache/archives/partial"):
            (self.home / part).mkdir(parents=True)
        line = f"deb [targets=Packages{signed}] {site[1]} {newer} main\n"
        (self.home / "sources.list").write_text(line)

    def run(self, *order: str) -> None:
        options = {
            "Dir::Etc::SourceList": self.home / "sources.list",
            "Dir::Etc::SourceParts": self.home / "parts",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State::Lists": self.home / "lists",
            "Dir::Cache": self.home / "cache",
            "APT::Sandbox::User": "root",
            "Acquire::Retries": 3,
            "Acquire::Languages": "none",
        }
        flags = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        trouble = f"apt-get {order[0]} could not fetch a newer {self.what}"
        run_tool(["apt-get", "-q", *flags, *order], trouble, cwd=self.home)
