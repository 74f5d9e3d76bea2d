"""How the plan refuses an event: a reason, as in the dead letter of the job, and a sentence."""

from typing import NoReturn


class EventRefusedError(Exception):
    """Carries the refusal out of the rule that found it."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence


def refuse(reason: str, sentence: str) -> NoReturn:
    """Refuse the event that is being read."""
    raise EventRefusedError(str(reason), sentence)
