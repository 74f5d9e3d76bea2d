"""Fills an office with messages of every kind, so that each screen has something to show."""

from datetime import timedelta

from pipeline.client import Repeat
from tests.admin.office import Office
from tests.integration.running import in_seconds, wait_for

_DAYS = [0.2, 0.5, 0.7, 0.8, 1.1, 1.5, 2.2, 2.6, 2.9, 5, 9, 14, 20, 30, 52, 75, 100, 130]
_ORDER = '{{"order": {n}, "customer": "Ada", "paid": false, "total": 129.90}}'


def furnish(office: Office) -> None:
    """Have messages wait, repeat, go out, be refused, and be acted on."""
    place = office.place
    with place.client() as client:
        for n, hours in enumerate(_DAYS * 3):
            at = in_seconds(3600 * hours + 40 * n)
            order = _ORDER.format(n=4711 + n)
            client.schedule(order, topic=place.out, key=f"order-{4711 + n}", at=at)
        for n in range(6):
            client.schedule(f"done {n}", topic=place.out, key=f"sent-{n}", delay="1s")
        every = Repeat(every="15m", count=200)
        client.schedule("stand up", topic=place.out, key="standup", repeat=every)
        cron = Repeat(cron="30 9 * * MON-FRI", tz="Europe/Berlin", count=20)
        client.schedule("good morning", topic=place.out, key="good-morning", repeat=cron)
        client.schedule("x", topic="payroll", key="not-allowed", delay=timedelta(hours=1))
        client.forward(b"bad", b"this is no event")
        # In one batch with its schedule a cancel would leave nothing of both to be seen.
        wait_for(lambda: place.statuses_of("good-morning") != [], "the job to take them")
        client.cancel("order-4713", actor="ada", reason="paid in time")
        client.pause("order-4714", actor="ada", reason="customer asked")
    wait_for(lambda: place.statuses_of("sent-5") == ["done"], "the last of them to go out")
    wait_for(lambda: place.statuses_of("order-4713") == ["cancelled"], "the cancel")
    wait_for(lambda: place.stats().ledger.rejected >= 2, "the dead letters")
