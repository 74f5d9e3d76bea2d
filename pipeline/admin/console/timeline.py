"""Tells the life of a key in order: what was scheduled, ordered, tried, and how it ended."""

from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.admin.console.lines import PAUSED, Row, status_of, status_text
from pipeline.admin.console.texts import t
from pipeline.admin.single import Single
from pipeline.commands import version_text
from pipeline.paused import instant_of
from state import row as r
from state.row import LIVE, Kind, Status


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened, or will."""

    at: int
    what: str
    tone: str = ""  # done, dead, command, future
    more: str = ""
    version: str = ""


def timeline(known: Single) -> list[Happening]:
    """Return what happened under a key, the newest first; what is to come stands above it."""
    found = [thing for row in known.versions for thing in _of_version(row)]
    found += [
        Happening(
            command.when,
            t("%(what)s: %(effect)s", what=command.what, effect=command.effect.replace("_", " ")),
            "command",
            _by_whom(command.who, command.why),
        )
        for command in known.commands
    ]
    return sorted(found, key=lambda thing: thing.at, reverse=True)


def _by_whom(who: str, why: str) -> str:
    if who and why:
        return t("by %(who)s: %(why)s", who=who, why=why)
    return t("by %(who)s", who=who) if who else why


def _of_version(row: Row) -> Iterator[Happening]:
    version = version_text(row[r.SOURCE_PARTITION], row[r.SOURCE_OFFSET])
    if not row[r.OCCURRENCE]:
        refused = row[r.KIND] == Kind.REJECTION
        what = t("came in, and was not admitted") if refused else t("scheduled")
        yield Happening(row[r.SOURCE_TIMESTAMP], what, version=version)
    for number, at in enumerate(row[r.ATTEMPTED_AT] or [], 1):
        what = t("Kafka refused it, attempt %(n)s", n=number)
        yield Happening(at, what, "dead", row[r.REASON] or "", version)
    if row[r.KIND] == Kind.MESSAGE:
        yield _end(row, version)


def _end(row: Row, version: str) -> Happening:
    status, because = status_of(row), ": ".join(filter(None, (row[r.REASON], row[r.DETAIL])))
    if status in LIVE:
        return Happening(instant_of(row), t("due"), "future", _occurrence(row), version)
    if status == PAUSED:
        return Happening(row[r.CHANGED_AT], t("paused"), "command", _occurrence(row), version)
    if row[r.PUBLISHED_AT] is not None:
        return Happening(row[r.PUBLISHED_AT], t("published"), "done", _occurrence(row), version)
    tone = {Status.DONE: "done", Status.DEAD: "dead"}.get(Status(status), "")
    return Happening(
        row[r.CHANGED_AT], status_text(status), tone, because or _occurrence(row), version
    )


def _occurrence(row: Row) -> str:
    return t("occurrence %(n)s", n=row[r.OCCURRENCE] + 1) if row[r.OCCURRENCE] else ""
