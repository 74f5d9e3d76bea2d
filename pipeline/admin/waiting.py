"""Tells what came of a record that was sent, once the job has taken it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool

from pipeline.admin.sent import Sent
from pipeline.admin.single import Single
from pipeline.dead import with_reason
from pipeline.reasons import sentence_of
from pipeline.remembered import read_remembered
from state.inspect import Inspector
from state.row import (
    DETAIL,
    KIND,
    REASON,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    Kind,
)

Row = dict[str, Any]

MOST = 60_000_000  # microseconds that anybody may wait
REPLACED_AT_ONCE = "replaced"  # a newer record of the key came in the same batch
_FIRST_LOOK, _LAST_LOOK = 0.1, 0.5  # seconds between two looks: few at first, then more


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the job made of a record: a message, a rejection, or the effect of a command."""

    row: Row | None = None  # the message, or the command
    message: Row | None = None  # the message; of a command about a key the one of this key
    effect: str | None = None  # of a command, or REPLACED_AT_ONCE
    reason: str | None = None  # of a rejection
    detail: str | None = None

    def why(self, hide: bool) -> str | None:
        """Return why a record was refused; ``hide``: without a word of it (hide_payload)."""
        return (sentence_of(self.reason) if hide else self.detail) or self.reason


def outcome(state: Inspector, sent: Sent) -> Outcome | None:
    """Look what came of a record; None while the job has not taken it."""
    return outcome_in(state.versions(sent.key, sent.source).to_pylist(), sent)


def outcome_in(rows: list[Row], sent: Sent) -> Outcome | None:
    """Find the same among the rows of the key."""
    on_topic = [row for row in rows if row[SOURCE_TOPIC] == sent.source]
    mine = [row for row in on_topic if _place(row) == (sent.partition, sent.offset)]
    by_kind = {row[KIND]: row for row in mine}
    if Kind.REJECTION in by_kind:
        refused = with_reason(by_kind[Kind.REJECTION])
        return Outcome(reason=refused[REASON], detail=refused[DETAIL])
    if Kind.COMMAND in by_kind:
        row = by_kind[Kind.COMMAND]
        about_key = read_remembered(row).scope == "key"
        current = Single(on_topic, [], on_topic).current if about_key else None
        return Outcome(row=row, message=current, effect=row[REASON])
    if Kind.MESSAGE in by_kind:
        return Outcome(row=by_kind[Kind.MESSAGE], message=by_kind[Kind.MESSAGE])
    newer = any(
        row[SOURCE_PARTITION] == sent.partition and row[SOURCE_OFFSET] > sent.offset
        for row in on_topic
    )
    return Outcome(effect=REPLACED_AT_ONCE) if newer else None


async def waited(look: Callable[[], Outcome | None], micros: int) -> Outcome | None:
    """Look again and again until there is an outcome or the time is over.

    Between two looks nothing is held but this coroutine.
    """
    loop = asyncio.get_running_loop()
    until, pause = loop.time() + min(micros, MOST) / 1_000_000, _FIRST_LOOK
    while True:
        found = await run_in_threadpool(look)
        left = until - loop.time()
        if found is not None or left <= 0:
            return found
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 1.5, _LAST_LOOK)


def _place(row: Row) -> tuple[int, int]:
    return row[SOURCE_PARTITION], row[SOURCE_OFFSET]
