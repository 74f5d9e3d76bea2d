"""Remembers a bounded number of things for a bounded time."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from pipeline.clock import now_micros

K = TypeVar("K")
V = TypeVar("V")


class Memory(Generic[K, V]):
    """Forgets what was used longest ago once there is too much, and all that is too old."""

    def __init__(self, most: int, age: int, clock: Callable[[], int] = now_micros) -> None:
        self._most, self._age, self._clock = most, age, clock
        self._lock = threading.Lock()
        self._known: OrderedDict[K, tuple[int, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return what is remembered."""
        with self._lock:
            since, value = self._known.get(key, (None, None))
            if since is None:
                return None
            if self._clock() - since > self._age:
                del self._known[key]
                return None
            self._known.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> None:
        """Remember it from now on."""
        with self._lock:
            self._known[key] = (self._clock(), value)
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
