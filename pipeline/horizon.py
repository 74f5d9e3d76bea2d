"""How far ahead to claim: a little more than the time until the next batch will have claimed."""

from collections import deque

_REMEMBERED = 20
_MARGIN = 1.5


class Horizon:
    """Follows the recent ticks, between a least and a greatest lookahead (microseconds)."""

    def __init__(self, least: int, most: int) -> None:
        self._least = least
        self._most = most
        self._spans: deque[int] = deque(maxlen=_REMEMBERED)
        self._previous: int | None = None
        self._furthest = 0

    def handed_over(self, batch_time: int, now: int) -> None:
        """Take note that the claims of the batch planned at ``batch_time`` are in the outbox.

        What the batch before it did not claim has waited since then: from that batch's time to now.
        """
        if self._previous is not None:
            self._spans.append(now - self._previous)
        self._previous = batch_time

    def until(self, batch_time: int) -> int:
        """Return up to which due instant a batch claims; never less than one before it.

        A batch that claimed less than the one before would leave a message behind others of its
        lane that are due later and already wait in the outbox. Only a clock that steps back, after
        it was far ahead, may have that effect.
        """
        ahead = max(self._least, min(int(max(self._spans, default=0) * _MARGIN), self._most))
        furthest = min(self._furthest, self.farthest(batch_time))
        self._furthest = max(furthest, batch_time + ahead)
        return self._furthest

    def farthest(self, batch_time: int) -> int:
        """Return up to which due instant a batch may claim at all."""
        return batch_time + max(self._least, self._most)
