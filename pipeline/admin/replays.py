"""Remembers the answers to requests that bear an Idempotency-Key, so that each acts once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pipeline.admin.memory import Memory
from pipeline.admin.problems import Problem
from pipeline.admin.sent import Sent
from pipeline.admin.writes import DAY

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered: the status, the body and the headers."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass(slots=True)
class Replay:
    """One Idempotency-Key of somebody; whoever holds ``turn`` acts, or finds the answer there."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    fingerprint: str | None = None  # of the request whose record was sent
    sent: Sent | None = None
    answer: Answer | None = None

    def answered(self, fingerprint: str) -> Answer | None:
        """Return the answer that was given; a Problem if it was given to another request."""
        if self.sent is not None and self.fingerprint != fingerprint:
            raise Problem(
                422,
                "idempotency_key_reused",
                "idempotency-key: was used for another request; take a new one for each",
            )
        return self.answer

    def once(self, fingerprint: str, send: Callable[[], Sent]) -> Sent:
        """Send the record, or tell where it is: it may be there though nothing was answered."""
        if self.sent is None:
            self.sent = send()
            self.fingerprint = fingerprint
        return self.sent


class Replays:
    """The keys of the last day, as many as fit; of the event loop's thread only."""

    def __init__(self) -> None:
        self._known: Memory[tuple[str, str], Replay] = Memory(_MOST, DAY)

    def of(self, who: str, key: str) -> Replay:
        """Return what is known of a key; a new one knows nothing."""
        known = self._known.get((who, key))
        if known is None:
            known = Replay()
            self._known.put((who, key), known)
        return known
