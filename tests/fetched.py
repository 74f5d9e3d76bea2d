"""Programs of Debian's packages that tests use: that of the machine, else fetched once by name."""

from pathlib import Path

import pytest

from pipeline.installed import installed
from pipeline.jvm import cache_folder
from pipeline.newer_libc import fetch_newer
from state.errors import SetupError


def fetched(package: str, program: str) -> str:
    """Return the path of a program in a package, kept in the cache that all clones share."""

    def fetch(folder: Path) -> None:
        fetch_newer(folder, package, [package])

    try:
        folder = installed(cache_folder() / package, f"fetching {package}", fetch)
    except SetupError as error:
        pytest.skip(f"{package} is not on this machine and cannot be fetched: {error}")
    return str(folder / program)
