"""The services behind API and console: what is written is found again, and what came of it."""

import asyncio
import json
from uuid import uuid4

import pytest

from pipeline.admin.acting import Acting
from pipeline.admin.bulk import Order, Wanted, chosen, send
from pipeline.admin.conditions import Condition
from pipeline.admin.desk import Desk
from pipeline.admin.listing import Asked, listed
from pipeline.admin.offered import offered
from pipeline.admin.problems import Problem
from pipeline.admin.sent import Sent
from pipeline.admin.single import message_of
from pipeline.admin.waiting import Outcome, outcome, waited
from pipeline.admin.who import LOCAL
from pipeline.choice import Choice
from pipeline.commands import Command
from state.row import STATUS, Status
from tests.admin.office import Office

_WAIT = 60_000_000


def at_desk(office: Office) -> Desk:
    return Desk.of(office.place.settings)


def event(office: Office, **more: object) -> bytes:
    return json.dumps(
        {"outputtopic": office.place.out, "delayby": "1h", "data": "x"} | more
    ).encode()


def came_of(desk: Desk, sent: Sent) -> Outcome:
    found = asyncio.run(waited(lambda: outcome(desk.looking.inspector(), sent), _WAIT))
    assert found is not None
    return found


def test_what_is_scheduled_is_listed_and_can_be_cancelled_once(office: Office) -> None:
    desk, key = at_desk(office), uuid4().hex.encode()
    acting = Acting(desk, LOCAL)

    put = acting.schedule(key, offered(None, {}, event(office)))
    assert came_of(desk, put).row is not None
    state = desk.looking.inspector()
    page = listed(state, Asked(key_prefix=key))
    assert [row["key"] for row in page.rows] == [key] and page.next is None

    gone = acting.cancel(key, reason="test", condition=Condition.of_version(put.version))
    assert came_of(desk, gone).effect == "cancelled"
    known = message_of(state, desk.settings, key, None, put.source)
    assert [row[STATUS] for row in known.versions] == [Status.CANCELLED]
    assert [(each.who, each.why) for each in known.commands] == [("local", "test")]
    desk.close()


def test_of_two_writers_with_the_same_version_only_one_succeeds(office: Office) -> None:
    desk, key = at_desk(office), uuid4().hex.encode()
    acting = Acting(desk, LOCAL)
    put = acting.schedule(key, offered(None, {}, event(office)))
    seen = Condition.of_version(put.version)

    acting.schedule(key, offered(None, {}, event(office, data="first")), condition=seen)
    with pytest.raises(Problem, match="if-match") as told:
        acting.schedule(key, offered(None, {}, event(office, data="second")), condition=seen)

    assert told.value.status == 412
    desk.close()


def test_a_bulk_order_tells_how_many_and_then_acts_on_what_was_seen(office: Office) -> None:
    desk, prefix = at_desk(office), uuid4().hex
    acting = Acting(desk, LOCAL)
    puts = [
        acting.schedule(f"{prefix}-{n}".encode(), offered(None, {}, event(office)))
        for n in range(3)
    ]
    for put in puts:
        came_of(desk, put)
    state = desk.looking.inspector()
    these = chosen(desk, state, Wanted(choice=Choice(key_prefix=prefix.encode())))

    assert [each.version for each in these] == [put.version for put in puts]
    assert send(desk, LOCAL, Order(command=Command.CANCEL), these) == 3
    desk.close()
