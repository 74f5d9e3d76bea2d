"""A real MongoDB engine on this machine, for trying things out and for tests."""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Literal, Self

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from pipeline.broker_files import free_port, is_taken
from pipeline.leashed import Leashed
from pipeline.mongo_engine import INSTEAD, Engine, engine_command, licence
from state.errors import SetupError

SERVING_WITHIN = 60.0
_TRIES = 5
_POLL = 0.02


class LocalMongo:
    """One engine on 127.0.0.1; it never outlives this process, not even through kill -9.

    Without ``data`` its folder is temporary and gone after ``close``. The same object may be
    started again after ``stop`` or ``kill``: same data, same port.
    """

    def __init__(
        self, data: Path | None = None, port: int | None = None, engine: Engine = "embedded"
    ) -> None:
        self._temporary = data is None
        self.data = data.absolute() if data else Path(tempfile.mkdtemp(prefix="duestream-mongo-"))
        self.log_file = self.data / "mongo.log"
        self.engine: Engine = engine
        self._wanted_port = port
        self._port: int | None = None
        self._process: Leashed | None = None

    @property
    def uri(self) -> str:
        """What clients connect to; known once the engine was started."""
        if self._port is None:
            raise SetupError("the local MongoDB has no address before it is started")
        return f"mongodb://127.0.0.1:{self._port}/?directConnection=true"

    @property
    def pid(self) -> int | None:
        """The process id of the engine, None when it does not run."""
        return self._process.pid if self._process and self._process.alive else None

    def start(self) -> Self:
        """Start the engine and return when it answers; if a free port was taken, try another."""
        if self.pid is None:
            try:
                self._start_somewhere()
            except BaseException:
                self._end("kill")
                raise
        return self

    def stop(self) -> None:
        """End the engine cleanly; its data stays."""
        self._end("stop")

    def kill(self) -> None:
        """End the engine as a crash does (SIGKILL); its data stays."""
        self._end("kill")

    def freeze(self) -> None:
        """Make the engine stand still: it answers nobody, and connections stay open."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen engine go on."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End the engine and remove its folder, if that is a temporary one."""
        self._end("kill" if self._temporary else "stop")
        if self._temporary:
            shutil.rmtree(self.data, ignore_errors=True)

    def wait(self) -> None:
        """Wait until the engine ends by itself."""
        if self._process is not None:
            self._process.wait()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *error: object) -> None:
        self.close()

    def _start_somewhere(self) -> None:
        if self._wanted_port is not None and is_taken(self._wanted_port):
            raise SetupError(
                f"port {self._wanted_port} on 127.0.0.1 is in use; stop what listens there, or "
                "choose another port (--port)"
            )
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
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"{self.data} cannot be made a folder for MongoDB: {error.strerror}; "
                "choose another (--data)"
            ) from error
        command = engine_command(self.engine, folder, port)
        said = self.log_file.stat().st_size if self.log_file.exists() else 0
        self._process = Leashed(command, self.log_file, self.data if self._temporary else None)
        return said

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
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)  # frozen, it would not hear the polite word
            process.end(order)


def run_local_mongo(
    data: Path | None = None, port: int | None = None, engine: Engine = "embedded"
) -> None:
    """Run an engine until Ctrl-C or SIGTERM, and end it cleanly then."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.stderr.write(f"{licence(engine)}\n")
        with LocalMongo(data, port, engine) as mongo:
            sys.stdout.write(f"{mongo.uri}\n")
            sys.stdout.flush()
            mongo.wait()
            raise SetupError(f"MongoDB ended by itself; see {mongo.log_file}")
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)
