"""Tells what came of what somebody just did: pages carry the record's place in their address."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse

from pipeline.admin.console.render import page
from pipeline.admin.console.texts import t
from pipeline.admin.console.visit import Visiting
from pipeline.admin.desk import AtDesk, State
from pipeline.admin.sent import Sent
from pipeline.admin.waiting import REPLACED_AT_ONCE, Outcome, outcome
from pipeline.commands import Effect
from pipeline.keys import key_bytes, key_text

router = APIRouter(include_in_schema=False)

_GOOD = {Effect.CANCELLED, Effect.RESCHEDULED, Effect.PAUSED, Effect.RESUMED}


@dataclass(frozen=True, slots=True)
class Did:
    """What was sent: the parts of the address that say so; nothing if they are empty."""

    did: str = ""  # schedule, cancel, ...
    at: str = ""  # partition-offset
    of: str = ""  # the key, as text
    on: str = ""  # the input topic
    many: int = 0  # of many keys at once: how many

    @staticmethod
    def by(sent: Sent) -> "Did":
        """Return what was sent."""
        return Did(sent.what, sent.version, key_text(sent.key), sent.source)

    @property
    def query(self) -> str:
        """The same as parts of an address."""
        parts = {"did": self.did, "at": self.at, "of": self.of, "on": self.on, "many": self.many}
        return urlencode({name: value for name, value in parts.items() if value})

    def sent(self) -> Sent | None:
        """Return the record, None where the address does not name one."""
        partition, _, offset = self.at.partition("-")
        if not (self.did and partition.isdecimal() and offset.isdecimal()):
            return None
        return Sent(self.did, self.on, int(partition), int(offset), key_bytes(self.of, "of"))


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, and whether it is good, bad or still to come."""

    tone: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Done:
    """What was sent, and what came of it by now; nothing where nothing was sent."""

    what: Did
    told: Told | None


def done(desk: AtDesk, state: State, what: Annotated[Did, Depends()]) -> Done:
    """Look what came of what the address names."""
    sent, hide = what.sent(), desk.settings.admin.hide_payload
    return Done(what, None if sent is None else told(outcome(state, sent), hide))


Doing = Annotated[Done, Depends(done)]


@router.get("/outcome")
def came_of(visit: Visiting, did: Doing) -> HTMLResponse:
    """Answer with what came of it by now."""
    return page(visit, "outcome.html", did=did)


def told(found: Outcome | None, hide: bool = False) -> Told:
    """Say what came of a record."""
    if found is None:
        return Told("wait", t("Sent. The job takes it with its next tick."))
    if found.reason is not None:
        return Told("bad", t("Not admitted: %(why)s", why=found.why(hide)))
    if found.effect is not None:
        return _effect(found.effect)
    return Told("good", t("The job has taken it."))


def _effect(effect: str) -> Told:
    sentences = {
        Effect.CANCELLED: t("Cancelled."),
        Effect.RESCHEDULED: t("It has its new instant."),
        Effect.PAUSED: t("Paused."),
        Effect.RESUMED: t("Resumed."),
        Effect.NOTHING_PENDING: t("Nothing was pending any more, so nothing was done."),
        Effect.VERSION_DIFFERS: t("Another version is pending by now, so nothing was done."),
        Effect.AFTER_EXPIRY: t("Not done: the new instant is not before the message expires."),
        Effect.NOT_PAUSED: t("It was not paused, so nothing was done."),
        REPLACED_AT_ONCE: t("A newer record of the same key came at the same time and counts."),
    }
    known = effect in sentences
    tone = "good" if effect in _GOOD else "bad"
    return Told(tone, sentences[effect] if known else effect)
