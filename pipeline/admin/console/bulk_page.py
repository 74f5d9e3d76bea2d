"""Gives one command about many messages, after it told how many they are."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Response
from fastapi.responses import RedirectResponse

from pipeline.admin.bulk import MOST, Order, Wanted, chosen, send
from pipeline.admin.console.act import Do, Said, moment, require_reason, said_form
from pipeline.admin.console.did import Did
from pipeline.admin.console.render import page
from pipeline.admin.console.texts import t
from pipeline.admin.console.visit import Visit, Visiting
from pipeline.admin.desk import AtDesk, Desk, State
from pipeline.admin.pages.visiting import Actor
from pipeline.admin.problems import Problem
from pipeline.choice import Choice, Chosen
from pipeline.clock import now_micros
from pipeline.commands import Command
from pipeline.instants import parse_instant
from pipeline.keys import key_bytes
from state.errors import ConfigError
from state.inspect import Inspector

router = APIRouter(include_in_schema=False)

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Many:
    """Which messages: those chosen one by one (``source|key``), or all that match the rest."""

    do: Do
    topic: str = ""
    key: str = ""
    due_from: str = ""
    due_to: str = ""
    source: str = ""
    chosen: list[str] = field(default_factory=list)

    def wanted(self) -> list[Wanted]:
        """Return the same as questions, one for each input topic that keys were chosen of."""
        if not self.chosen:
            return [Wanted(choice=self._choice())]
        by_source: dict[str, list[bytes]] = {}
        for each in self.chosen:
            source, _, key = each.partition("|")
            by_source.setdefault(source, []).append(key_bytes(key, "chosen"))
        return [
            Wanted(choice=Choice(source=source), keys=tuple(keys))
            for source, keys in by_source.items()
        ]

    def _choice(self) -> Choice:
        now = now_micros()
        return Choice(
            topic=self.topic or None,
            source=self.source or None,
            key_prefix=key_bytes(self.key, "key") if self.key else None,
            due_from=parse_instant(self.due_from, "due_from", now) if self.due_from else None,
            due_to=parse_instant(self.due_to, "due_to", now) if self.due_to else None,
        )


def many_form(
    do: Annotated[Do, Form()],
    topic: Annotated[str, Form()] = "",
    key: Annotated[str, Form()] = "",
    due_from: Annotated[str, Form()] = "",
    due_to: Annotated[str, Form()] = "",
    source: Annotated[str, Form()] = "",
    chosen: Annotated[list[str] | None, Form()] = None,
) -> Many:
    """Read it from a form."""
    return Many(do, topic, key, due_from, due_to, source, chosen or [])


MeantMany = Annotated[Many, Depends(many_form)]


@router.post("/bulk/check")
def check(visit: Visiting, desk: AtDesk, state: State, _who: Actor, many: MeantMany) -> Response:
    """Count, show some of them, and ask; nothing is done yet."""
    return _ask(visit, many, found_of(desk, state, many), Said())


@router.post("/bulk/send")
def go(
    visit: Visiting,
    desk: AtDesk,
    state: State,
    who: Actor,
    many: MeantMany,
    said: Annotated[Said, Depends(said_form)],
    expect: Annotated[int, Form()],
) -> Response:
    """Send the commands, if they are as many as was told."""
    found = found_of(desk, state, many)
    if len(found) != expect:
        told = t("They were %(n)s when you looked; look again and decide.", n=f"{expect:,}")
        return _ask(visit, many, found, said, told, 409)
    try:
        require_reason(said.reason)
        sent = send(desk, who, order_of(many, said), found)
    except ConfigError as error:
        return _ask(visit, many, found, said, str(error), 422)
    except Problem as problem:
        return _ask(visit, many, found, said, problem.detail, problem.status)
    return RedirectResponse(f"{visit.base}/commands?{Did(did=many.do, many=sent).query}", 303)


def found_of(desk: Desk, state: Inspector, many: Many) -> list[Chosen]:
    """Return the keys that are meant, each with the version that is pending."""
    return [each for wanted in many.wanted() for each in chosen(desk, state, wanted)]


def order_of(many: Many, said: Said) -> Order:
    """Return what is to be done to each."""
    at, delay = moment(said.when) if many.do == "reschedule" else (None, None)
    return Order(command=Command(many.do), at=at, delay=delay, reason=said.reason)


def _ask(
    visit: Visit, many: Many, found: list[Chosen], said: Said, problem: str = "", status: int = 200
) -> Response:
    shown = found[:SHOWN]
    return page(
        visit,
        "bulk.html",
        status,
        many=many,
        number=len(found),
        most=MOST,
        shown=shown,
        said=said,
        problem=problem,
    )
