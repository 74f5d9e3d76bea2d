"""Says once that something pushed is not taken, and once that it is again."""

import logging

TIMEOUT = 5.0  # seconds for one push, and so for the last one when the job ends

log = logging.getLogger(__name__)


class Outage:
    """Whether what a setting names takes what is pushed there."""

    def __init__(self, setting: str, endpoint: str) -> None:
        self._named = setting, endpoint
        self._lasts = False

    def note(self, taken: bool) -> None:
        """Take note of a push; only a change is told."""
        if taken == self._lasts:
            self._lasts = not taken
            level, what = (logging.INFO, "takes it again") if taken else _NOT
            log.log(level, "%s: %s %s", *self._named, what)


_NOT = (logging.WARNING, "does not take what is pushed there; the job goes on")
