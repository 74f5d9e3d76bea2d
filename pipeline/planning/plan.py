"""Says what would become of an event: when it goes out, or why it is refused."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pipeline.config.settings import Settings
from pipeline.control import Control
from pipeline.planning.admission import Admission
from pipeline.planning.command import command_of, read_command, refuse_lookalikes
from pipeline.planning.event import policies_of, read_event
from pipeline.planning.message import Message, read_message
from pipeline.planning.refused import EventRefusedError, refuse
from state.rules.asked import Asked, Refused, read_asked
from state.rules.repeat import Following, following, missed_from


@dataclass(frozen=True, slots=True)
class Planned:
    """A message that would be taken, and when it would go out."""

    message: Message
    asked: Asked
    occurrences: tuple[Following, ...]
    more: bool  # whether others come after them


@dataclass(frozen=True, slots=True)
class NotTaken:
    """Why an event would be a dead letter."""

    reason: str
    sentence: str


def plan(
    value: bytes, settings: Settings, now: int, key: bytes | None = None, limit: int = 10
) -> Planned | Control | NotTaken:
    """Judge the value of a record that bears the timestamp ``now`` and is read at that instant.

    ``key`` is the record's, None when it is not known: then there is one, and it is not too large.
    """
    try:
        return _plan(value, settings, now, key, limit)
    except EventRefusedError as refused:
        return NotTaken(refused.reason, refused.sentence)


def _plan(
    value: bytes, settings: Settings, now: int, key: bytes | None, limit: int
) -> Planned | Control:
    event, admission = read_event(value), Admission.by(settings)
    if command_of(event) is not None:
        return read_command(event, key, now, admission)
    refuse_lookalikes(event)
    said = event.said()
    message = read_message(event, said, now)
    admission.check_key(key)
    admission.check_message(message)
    asked = read_asked(
        policies_of(said.wishes),
        names=said.names,
        due=message.due,
        timestamp=now,
        payload=message.payload,
        allow_forever=settings.schedules.endless_repeats,
    )
    if isinstance(asked, Refused):
        refuse(asked.reason, asked.sentence)
    series = tuple(islice(_occurrences(asked, now, settings.schedules.miss_after), limit + 1))
    return Planned(message, asked, series[:limit], len(series) > limit)


def _occurrences(asked: Asked, now: int, miss_after: int) -> Iterator[Following]:
    """Yield when the message goes out, as seen at ``now``; each in turn may have missed some."""
    repeat = asked.policy.repeat
    next_one: Following | None = Following(asked.due, 0, 0)
    while next_one is not None:
        if repeat is None:
            yield next_one
            return
        missed = missed_from(repeat, *next_one[:2], miss_after)
        if missed is None or now < missed:
            yield next_one
        seen = max(now, next_one.scheduled)
        next_one = following(repeat, next_one.scheduled, next_one.occurrence, seen, miss_after)
