"""Commands about what is pending; the receipt of a schedule names the version they act on."""

import os
from datetime import timedelta

from pipeline.client import Client

with Client(os.environ.get("KAFKA", "localhost:9092"), topic="duestream.schedules") as client:
    order = client.schedule("pay, please", topic="reminders", key="order-7", delay="15m")
    client.reschedule("order-7", delay=timedelta(hours=1), reason="customer asked", actor="ada")
    client.pause("order-7", reason="under review", actor="ada")
    client.resume("order-7", actor="ada")
    client.send_now("order-7", reason="customer waits", actor="ada")
    client.cancel("order-7", if_version=order, reason="paid", reply_to="replies")
    client.pause(topic="reminders", reason="its consumer is down")
    client.resume(topic="reminders")
    client.pause(everything=True, reason="maintenance")
    client.resume(everything=True)
