"""Reads how an event repeats."""

from state.rules.cron import next_match
from state.rules.cron_text import CronText, read_cron
from state.rules.refusal import Why, refuse
from state.rules.repeat import OnMiss, Repeat
from state.rules.wishes import Wishes, as_text, later
from state.rules.zones import is_zone

ENDLESS = "schedules.endless_repeats"  # the setting that allows a repeat without an end
_SHORTEST = 100_000
_ENDS = ("repeatcount", "repeatuntil", "repeatfor")


def read_repeat(
    wishes: Wishes, due: int | None, timestamp: int, allow_forever: bool
) -> Repeat | None:
    """Return how the event repeats, or None when it does not.

    The first occurrence is ``due``; if that was not given, the first match of the cron expression
    after ``timestamp``, or ``timestamp`` itself. It is the anchor of the series.
    """
    if wishes.has("repeatcron"):
        by, tz = "repeatcron", _zone(wishes)
        cron = _cron(wishes)
        every = cron.every if cron.fields is None else None
    elif wishes.has("repeatevery"):
        by, tz, cron = "repeatevery", "UTC", CronText(None, None, None)
        every = wishes.span(by)
    else:
        return None
    _check_interval(wishes, by, every)
    _check_end(wishes, by, allow_forever)
    anchor = timestamp if due is None else due
    if cron.fields is not None:
        anchor = _first(wishes, cron.fields, tz, due, timestamp)
    return Repeat(
        every=every,
        cron=cron.fields,
        tz=tz if cron.fields is not None else "UTC",
        until=_until(wishes, anchor),
        count=wishes.whole("repeatcount", 1, Why.INVALID_REPEAT),
        anchor=anchor,
        on_miss=_on_miss(wishes),
    )


def _cron(wishes: Wishes) -> CronText:
    try:
        return read_cron(wishes.asked["repeatcron"])
    except ValueError as error:
        said = wishes.said("repeatcron")
        return refuse(Why.INVALID_REPEAT, f"{said} is not a cron expression: {error}")


def _zone(wishes: Wishes) -> str:
    """Return the zone of the expression, from the one place where it is named."""
    cron = _cron(wishes)
    if not wishes.has("repeattz"):
        return cron.zone or "UTC"
    if cron.zone is not None or cron.fields is None:
        why = "names a zone itself" if cron.zone is not None else "is an interval"
        refuse(
            Why.CONFLICTING_ATTRIBUTES,
            f"{wishes.said('repeattz')} cannot go with {wishes.said('repeatcron')}, which {why}; "
            f"leave {wishes.label('repeattz')} out",
        )
    if not is_zone(wishes.asked["repeattz"]):
        refuse(
            Why.INVALID_REPEAT,
            f"{wishes.said('repeattz')} is not a time zone; name one such as Europe/Berlin or UTC",
        )
    return wishes.asked["repeattz"]


def _first(wishes: Wishes, fields: str, tz: str, due: int | None, timestamp: int) -> int:
    match = next_match(fields, tz, timestamp if due is None else due)
    if match is None:
        said = wishes.said("repeatcron")
        refuse(
            Why.INVALID_REPEAT,
            f"{said} does not come up within 50 years; check the day and the month",
        )
    return match if due is None else due


def _check_interval(wishes: Wishes, by: str, every: int | None) -> None:
    if every is not None and every < _SHORTEST:
        refuse(
            Why.INVALID_REPEAT,
            f"{wishes.said(by)} is too often; send an interval of at least 100ms",
        )


def _check_end(wishes: Wishes, by: str, allow_forever: bool) -> None:
    if not allow_forever and not any(wishes.has(name) for name in _ENDS):
        refuse(
            Why.ENDLESS_REPEAT,
            f"{wishes.said(by)} would repeat without an end; add {wishes.label(*_ENDS)}, or have "
            f"{ENDLESS} switched on",
        )


def _until(wishes: Wishes, first: int) -> int | None:
    span = wishes.positive_span("repeatfor", Why.INVALID_REPEAT)
    if span is not None:
        return later(first, span)
    until = wishes.instant("repeatuntil")
    if until is not None and until < first:
        refuse(
            Why.INVALID_REPEAT,
            f"{wishes.said('repeatuntil')} lies before the first occurrence at {as_text(first)} "
            f"({wishes.label('deliverat', 'delayby')}); send a later end",
        )
    return until


def _on_miss(wishes: Wishes) -> OnMiss:
    if not wishes.has("onmiss"):
        return OnMiss.LAST
    try:
        return OnMiss(wishes.asked["onmiss"].lower())
    except ValueError:
        known = ", ".join(OnMiss)
        return refuse(
            Why.INVALID_REPEAT, f"{wishes.said('onmiss')} is not known; send one of {known}"
        )
