"""Decides what becomes of a message that Kafka refused: tried again later, or a dead letter."""

import json
import logging
import random
from dataclasses import dataclass
from typing import Any

from pipeline.outbox.item import Item
from pipeline.outbox.refusal import Refusal
from state.duration import parse_duration

log = logging.getLogger(__name__)

RETRY_MAX = "retrymax"
RETRY_FOR = "retryfor"


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one refused message."""

    refusal: Refusal
    attempted_at: list[int]  # every attempt, this one last
    again_at: int | None  # None: it is dead

    @property
    def is_dead(self) -> bool:
        """Whether it will not be tried again."""
        return self.again_at is None


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
        return Decision(refusal, attempted_at, None if spent or too_old else again)

    def _delay(self, attempts: int) -> int:
        doubled = self.first_delay * 2 ** min(attempts - 1, 62)
        longest = min(doubled, self.longest_delay)
        return int(longest * random.uniform(1 - self.jitter, 1 + self.jitter))  # noqa: S311

    def _for(self, policy: str | None) -> "RetryRules":
        asked: dict[str, Any] = json.loads(policy) if policy else {}
        times, span = asked.get(RETRY_MAX), asked.get(RETRY_FOR)
        return RetryRules(
            self.max_attempts if times is None else int(times) + 1,
            self.max_age if span is None else parse_duration(span),
        )
