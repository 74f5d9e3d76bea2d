"""Decides what becomes of a message that Kafka refused: tried again later, or a dead letter."""

import random
from dataclasses import dataclass

from pipeline.outbox.decision import Decision
from pipeline.outbox.item import Item
from pipeline.outbox.refusal import Refusal
from state.row import Status
from state.rules.policy import Policy


@dataclass(frozen=True, slots=True)
class RetryRules:
    """How often and how long a message is tried; all spans in microseconds."""

    max_attempts: int = 1
    max_age: int = 0
    first_delay: int = 0
    longest_delay: int = 0
    jitter: float = 0.0

    def decide(self, item: Item, refusal: Refusal, now: int) -> Decision:
        """Decide on an attempt that failed at ``now``; the message may have rules of its own."""
        attempted_at = [*item.attempted_at, now]
        rules = self._for(item.policy)
        again = now + self._delay(len(attempted_at))
        spent = len(attempted_at) >= rules.max_attempts
        too_old = again - attempted_at[0] > rules.max_age
        dead = spent or too_old
        return Decision(
            Status.DEAD if dead else Status.PENDING,
            refusal.reason,
            refusal.detail,
            now,
            attempted_at,
            None if dead else again,
        )

    def _delay(self, attempts: int) -> int:
        doubled = self.first_delay * 2 ** min(attempts - 1, 62)
        longest = min(doubled, self.longest_delay)
        return int(longest * random.uniform(1 - self.jitter, 1 + self.jitter))  # noqa: S311

    def _for(self, asked: Policy) -> "RetryRules":
        return RetryRules(
            self.max_attempts if asked.retrymax is None else asked.retrymax + 1,
            self.max_age if asked.retryfor is None else asked.retryfor,
        )
