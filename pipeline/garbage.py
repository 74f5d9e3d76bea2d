"""Chooses when Python looks for garbage in cycles: not while messages are due.

Left to itself the collector runs whenever enough objects were made, which here is when the load is
highest, and walks over every message in memory while all threads wait. What duestream makes has no
cycles to speak of; those of libraries can wait for a quiet moment.
"""

import gc
import time

_AT_MOST_EVERY = 60.0  # seconds
_AT_LEAST_EVERY = 900.0


class Sweeper:
    """Takes the collector over, until closed."""

    def __init__(self) -> None:
        gc.collect()
        gc.freeze()
        gc.disable()
        self._swept = time.monotonic()

    def close(self) -> None:
        """Give the collector back."""
        gc.unfreeze()
        gc.enable()

    def sweep(self, quiet: bool) -> None:
        """Collect, if it is time to and the moment is a quiet one."""
        passed = time.monotonic() - self._swept
        if passed > _AT_LEAST_EVERY or (quiet and passed > _AT_MOST_EVERY):
            gc.collect()
            self._swept = time.monotonic()
