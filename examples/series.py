"""Messages that repeat, and messages that expire."""

import os
from datetime import UTC, datetime, timedelta

from pipeline.client import Client, Repeat

NINE = datetime(2030, 1, 31, 9, tzinfo=UTC)

with Client(os.environ.get("KAFKA", "localhost:9092"), topic="duestream.schedules") as client:
    client.schedule(
        "drink water",
        topic="reminders",
        key="water",
        at=NINE,
        repeat=Repeat(every=timedelta(hours=1), count=5, on_miss="skip"),
    )
    client.schedule(
        "good morning",
        topic="reminders",
        key="morning",
        repeat=Repeat(
            cron="30 9 * * MON-FRI",
            tz="Europe/Berlin",
            until=datetime(2030, 12, 31, 23, tzinfo=UTC),
        ),
        expire_after=timedelta(minutes=10),
    )
    client.schedule(
        "the sale ends at noon",
        topic="reminders",
        key="sale",
        at=NINE,
        expires_at=NINE + timedelta(hours=3),
    )
