"""Forgets rows that were closed long enough ago, in the background, a slice at a time."""

import logging
import threading

from pymongo.errors import PyMongoError

from state.clock import MINUTE
from state.mongo.documents import slices
from state.mongo.layout import CLOSED_AT, SCHEDULES, SEQ, VERSIONS, Document
from state.mongo.reach import Reach

_EVERY = MINUTE
# A writer that was frozen in the middle of a commit and wakes up must find what it has written, or
# it would write it once more.
_AT_LEAST = 60 * MINUTE
_SLICE = 2_000

log = logging.getLogger(__name__)


class Purge:
    """Deletes closed rows; one run at a time."""

    def __init__(self, reach: Reach, keep_closed: int) -> None:
        self._reach = reach
        self._keep_closed = max(keep_closed, _AT_LEAST)
        self._begun_at: int | None = None
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def begin(self, now: int, seq: int) -> None:
        """Begin a run if the last one ended and is long enough ago.

        What commit ``seq``, the last one, has written stays: its journal would bring it back.
        """
        busy = self._thread is not None and self._thread.is_alive()
        if busy or (self._begun_at is not None and abs(now - self._begun_at) < _EVERY):
            return
        self._begun_at = now
        self._thread = threading.Thread(
            target=self._run, args=(now - self._keep_closed, seq), name="purge", daemon=True
        )
        self._thread.start()

    def wait(self) -> None:
        """Wait for a run that has begun."""
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """End a run after its present slice."""
        self._stopped.set()
        self.wait()

    def _run(self, before: int, seq: int) -> None:
        old: Document = {CLOSED_AT: {"$lt": before}, SEQ: {"$lt": seq}}
        try:
            for name in (SCHEDULES, VERSIONS):
                while not self._stopped.is_set() and self._delete(name, old):
                    pass
        except PyMongoError as error:
            log.info("old rows could not be deleted and are tried again later (%s)", error)

    def _delete(self, name: str, old: Document) -> bool:
        # What is no longer closed when its turn comes does not match, and stays.
        collection = self._reach.db[name]
        ids = [found["_id"] for found in collection.find(old, {"_id": 1}, limit=_SLICE)]
        for some in slices(ids):
            collection.delete_many({"_id": {"$in": some}, **old})
        return len(ids) == _SLICE
