"""What servers on this machine have in common: a folder, a leash, and how they start and end."""

import shutil
import signal
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Self

from pipeline.broker_files import is_taken
from pipeline.leashed import Leashed
from state.errors import SetupError


class LocalServer(ABC):
    """One server on 127.0.0.1; it never outlives this process, not even through kill -9.

    Without ``data`` its folder is temporary and gone after ``close``. The same object may be
    started again after ``stop`` or ``kill``: same data, same port.
    """

    def __init__(self, name: str, data: Path | None, port: int | None) -> None:
        self._temporary = data is None
        temporary = f"duestream-{name}-"
        self.data = data.absolute() if data else Path(tempfile.mkdtemp(prefix=temporary))
        self.log_file = self.data / f"{name}.log"
        self._wanted_port = port
        self._process: Leashed | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the server, None when it does not run."""
        return self._process.pid if self._process and self._process.alive else None

    def start(self) -> Self:
        """Start the server and return when it serves; if a free port was taken, try another."""
        if self.pid is None:
            try:
                self._refuse_taken_port()
                self._start_somewhere()
            except BaseException:
                self._end("kill")
                raise
        return self

    def stop(self) -> None:
        """End the server cleanly; its data stays."""
        self._end("stop")

    def kill(self) -> None:
        """End the server as a crash does (SIGKILL); its data stays."""
        self._end("kill")

    def close(self) -> None:
        """End the server and remove its folder, if that is a temporary one."""
        self._end("kill" if self._temporary else "stop")
        if self._temporary:
            shutil.rmtree(self.data, ignore_errors=True)

    def wait(self) -> None:
        """Wait until the server ends by itself."""
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

    @abstractmethod
    def _start_somewhere(self) -> None:
        """Launch it on its port, or on a free one, and wait until it serves."""

    def _refuse_taken_port(self) -> None:
        if self._wanted_port is not None and is_taken(self._wanted_port):
            raise SetupError(
                f"port {self._wanted_port} on 127.0.0.1 is in use; stop what listens there, or "
                "choose another port (--port)"
            )

    def _make_folder(self, folder: Path, what: str) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"{self.data} cannot be made a folder for {what}: {error.strerror}; "
                "choose another (--data)"
            ) from error

    def _run(self, command: list[str]) -> None:
        """Put a command on the leash; a temporary folder goes with it, whoever dies."""
        self._process = Leashed(command, self.log_file, self.data if self._temporary else None)

    def _end(self, order: Literal["stop", "kill"]) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(order)


def run_until_told(server: LocalServer, name: str, address: Callable[[], str]) -> None:
    """Run a server until Ctrl-C or SIGTERM, and end it cleanly then."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with server:
            sys.stdout.write(f"{address()}\n")
            sys.stdout.flush()
            server.wait()
            raise SetupError(f"{name} ended by itself; see {server.log_file}")
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)
