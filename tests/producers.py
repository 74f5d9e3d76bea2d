"""The producers of examples/producers, each ready to be run with the tools of this machine."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.installed import installed, run_tool
from pipeline.jvm import broker_jars, cache_folder, check_java
from pipeline.node import node
from state.errors import SetupError
from tests.pages import ROOT

FOLDER = ROOT / "examples" / "producers"
Run = Callable[[list[str], dict[str, str]], str]


def java() -> Run:
    command = [str(check_java()), "-cp", f"{broker_jars()}/*", str(FOLDER / "java/Schedule.java")]
    return _running(command)


def go() -> Run:
    if shutil.which("go") is None:
        pytest.skip("go is not on this machine: its producer cannot be compiled")
    return _running([str(_fetched("go", _compile) / "schedule")])


def js() -> Run:
    folder = _fetched("js", _install)
    modules = {"NODE_PATH": str(folder / "node_modules")}
    return _running([str(node(cache_folder()).program), str(FOLDER / "js/schedule.js")], modules)


PRODUCERS = {"java": java, "go": go, "js": js}


def _running(command: list[str], more: dict[str, str] | None = None) -> Run:
    def run(arguments: list[str], environ: dict[str, str]) -> str:
        trouble = f"{Path(command[-1]).name} failed"
        return run_tool([*command, *arguments], trouble, environ={**(more or {}), **environ})

    return run


def _fetched(language: str, build: Callable[[Path], None]) -> Path:
    """Return what was built from the files of a language, once for each state they were in."""
    files = sorted((FOLDER / language).iterdir())
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    place = cache_folder() / "producers" / f"{language}-{digest}"
    try:
        return installed(place, f"building the {language} producer", build)
    except SetupError as error:
        pytest.skip(f"the {language} producer cannot be built here: {error}")


def _compile(folder: Path) -> None:
    home = {"GOPATH": str(cache_folder() / "go"), "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw"}
    command = ["go", "build", "-buildvcs=false", "-o", str(folder / "schedule"), "."]
    run_tool(command, "go build failed", cwd=FOLDER / "go", environ=home)


def _install(folder: Path) -> None:
    npm = node(cache_folder()).npm
    shutil.copy(FOLDER / "js/package.json", folder)
    options = ["--no-audit", "--no-fund", "--ignore-scripts"]
    run_tool([*npm, "install", *options], "npm install failed", cwd=folder)
