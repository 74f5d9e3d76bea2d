"""What a message does to one that is pending under its key."""

import os
from datetime import UTC, datetime, timedelta

from pipeline.client import Client, SameKey

NINE = datetime(2030, 1, 31, 9, tzinfo=UTC)
COMPARED = SameKey(policy="ignoresmallchange", compare="$.price", min_deviation="5%")
SETTLED = SameKey(policy="settle", settle_for="10s", settle_max=timedelta(minutes=1))

with Client(os.environ.get("KAFKA", "localhost:9092"), topic="duestream.schedules") as client:
    client.schedule(
        "first come", topic="reminders", key="one", at=NINE, same_key=SameKey(policy="keep")
    )
    client.schedule('{"price": 100.0}', topic="prices", key="shoe", at=NINE, same_key=COMPARED)
    client.schedule('{"stock": 3}', topic="stock", key="shoe", same_key=SETTLED)
