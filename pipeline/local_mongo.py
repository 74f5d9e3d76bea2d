"""A real MongoDB engine on this machine, for trying things out and for tests."""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Literal

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from pipeline.broker_files import free_port
from pipeline.local_server import LocalServer, run_until_told
from pipeline.mongo_engine import INSTEAD, Engine, engine_command, licence
from state.errors import SetupError

SERVING_WITHIN = 60.0
_TRIES = 5
_POLL = 0.02


class LocalMongo(LocalServer):
    """One engine; see pipeline.local_server for how it is started and ended."""

    def __init__(
        self, data: Path | None = None, port: int | None = None, engine: Engine = "embedded"
    ) -> None:
        super().__init__("mongo", data, port)
        self.engine: Engine = engine
        self._port: int | None = None

    @property
    def uri(self) -> str:
        """What clients connect to; known once the engine was started."""
        if self._port is None:
            raise SetupError("the local MongoDB has no address before it is started")
        return f"mongodb://127.0.0.1:{self._port}/?directConnection=true"

    def freeze(self) -> None:
        """Make the engine stand still: it answers nobody, and connections stay open."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen engine go on."""
        self._signal(signal.SIGCONT)

    def _start_somewhere(self) -> None:
        movable = self._port is None and self._wanted_port is None
        for _ in range(_TRIES):
            if movable or self._port is None:
                self._port = self._wanted_port or free_port()
            said = self._launch(self._port)
            if self._serves(said):
                return
            if not (movable and "in use" in self._log(said)):
                break
        tail = "\n".join(self._log(said).splitlines()[-15:])
        raise SetupError(
            f"the local MongoDB did not start; choose another folder (--data), {INSTEAD}; "
            f"its log ends with:\n{tail}"
        )

    def _launch(self, port: int) -> int:
        folder = self.data / self.engine
        self._make_folder(folder, "MongoDB")
        command = self._command(folder, port)
        said = self.log_file.stat().st_size if self.log_file.exists() else 0
        self._run(command)
        return said

    def _command(self, folder: Path, port: int) -> list[str]:
        return engine_command(self.engine, folder, port)

    def _serves(self, said: int) -> bool:
        deadline = time.monotonic() + SERVING_WITHIN
        # Its own word comes first: a stranger on that port would answer a ping as well.
        while self.pid is not None and time.monotonic() < deadline:
            if "listening on" in self._log(said) and self._answers():
                return True
            time.sleep(_POLL)
        self._end("kill")
        return False

    def _answers(self) -> bool:
        client: MongoClient[dict[str, Any]]
        with MongoClient(self.uri, serverSelectionTimeoutMS=500) as client:
            with contextlib.suppress(PyMongoError):
                return bool(client.admin.command("ping")["ok"])
            return False

    def _log(self, start: int) -> str:
        with self.log_file.open("rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is None:
            raise SetupError("the local MongoDB does not run; start it first")
        os.kill(self.pid, number)

    def _end(self, order: Literal["stop", "kill"]) -> None:
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)  # frozen, it would not hear the polite word
        super()._end(order)


def run_local_mongo(
    data: Path | None = None, port: int | None = None, engine: Engine = "embedded"
) -> None:
    """Run an engine until Ctrl-C or SIGTERM, and end it cleanly then."""
    sys.stderr.write(f"{licence(engine)}\n")
    mongo = LocalMongo(data, port, engine)
    run_until_told(mongo, "MongoDB", lambda: mongo.uri)
