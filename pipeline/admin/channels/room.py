"""Where channels are kept in memory: what is read from Kafka comes in, requests look at it."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from pipeline.admin.channels.board import Board
from pipeline.admin.channels.board import Event as BoardEvent
from pipeline.admin.channels.job_table import JobTable
from pipeline.admin.channels.written import BY, Deed, Entry, read_due, read_job
from pipeline.clock import now_micros

log = logging.getLogger(__name__)

_LATELY = 60 * 1_000_000
Answer = TypeVar("Answer")


class Room:
    """The board and the jobs, behind one lock; and who waits for what came of a record."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._board = Board()
        self._jobs = JobTable()
        self._waiting: dict[str, Future[bool]] = {}
        self._heard_of: set[str] = set()  # jobs that events came from lately

    def look(self, ask: Callable[[Board, JobTable], Answer]) -> Answer:
        """Return what a function finds; nothing changes meanwhile."""
        with self._lock:
            return ask(self._board, self._jobs)

    def expect(self, attempt: str) -> "Future[bool]":
        """Return what will be known once the record that bears ``attempt`` is read back."""
        future: Future[bool] = Future()
        with self._lock:
            self._waiting[attempt] = future
        return future

    def expect_no_more(self, attempt: str) -> None:
        """Say that nobody waits for it any more."""
        with self._lock:
            self._waiting.pop(attempt, None)

    def heard_of(self) -> set[str]:
        """Return the jobs that events came from lately, each once."""
        with self._lock:
            heard, self._heard_of = self._heard_of, set()
            return heard

    def take_due(self, message: Any) -> None:
        """Take an event that came due."""
        at, headers = _at(message), dict(message.headers() or ())
        place = f"{message.topic()}-{message.partition()}-{message.offset()}"
        event, job = read_due(message.value() or b"", headers, at, place)
        now = now_micros()
        with self._lock:
            self._board.publish(event, now)
            if job and at > now - _LATELY:
                self._heard_of.add(job)

    def take_entry(self, message: Any) -> None:
        """Take what a caller did."""
        entry, at = Entry.from_json(message.value() or b""), _at(message)
        with self._lock:
            self._tell(message, _done(self._board, entry, at))

    def take_job(self, message: Any) -> None:
        """Take what became of a job."""
        job_id, value = (message.key() or b"").decode(), message.value()
        with self._lock:
            if value is None:
                self._jobs.remove(job_id)
                self._tell(message, True)
            else:
                self._tell(message, self._jobs.take(read_job(job_id, value, _at(message))))

    def _tell(self, message: Any, outcome: bool) -> None:
        attempt = dict(message.headers() or ()).get(BY, b"").decode(errors="replace")
        future = self._waiting.pop(attempt, None)
        if future is not None:
            future.set_result(outcome)


def _done(board: Board, entry: Entry, at: int) -> bool:
    name, until = entry.name, entry.until
    if entry.deed is Deed.PUBLISH:
        board.publish(BoardEvent(name, entry.data, at, at + entry.ttl), now_micros())
        return True
    if entry.deed is Deed.LOCK:
        return board.lock(name, at, at + entry.ttl, until)
    if entry.deed is Deed.UNLOCK:
        return board.unlock(name, at, until)
    return board.delete(name, at, until)


def _at(message: Any) -> int:
    milliseconds: int = message.timestamp()[1]
    return milliseconds * 1_000
