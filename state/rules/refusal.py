"""How an event that asks for what cannot be done is refused: a reason and a sentence."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn


class Why(StrEnum):
    """The reasons for which the rules refuse an event."""

    INVALID_REPEAT = "invalid_repeat"
    INVALID_POLICY = "invalid_policy"
    INVALID_EXPIRY = "invalid_expiry"
    INVALID_TIME = "invalid_time"
    INVALID_DURATION = "invalid_duration"
    CONFLICTING_ATTRIBUTES = "conflicting_attributes"
    ENDLESS_REPEAT = "endless_repeat"


@dataclass(frozen=True, slots=True)
class Refused:
    """Why an event is refused; the sentence names the fields, their values and the way out."""

    reason: StrEnum
    sentence: str


class RefusedError(Exception):
    """Carries a refusal out of the function that found it."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.sentence)
        self.refused = refused


def refuse(reason: StrEnum, sentence: str) -> NoReturn:
    """Refuse the event that is being read."""
    raise RefusedError(Refused(reason, sentence))
