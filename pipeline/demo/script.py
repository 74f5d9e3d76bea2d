"""What the demo sends: messages over half a minute, some replaced, cancelled, bad, or for later."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from confluent_kafka import Producer

from pipeline.client import Client, Repeat
from pipeline.demo.watcher import Seen

REMINDERS = "reminders"
ORDERS = "orders.timeouts"
OUTPUTS = (REMINDERS, ORDERS)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the demo does; ``after`` seconds from its start, due ``due`` seconds from it."""

    what: str  # schedule, later (stays pending), repeat, cancel, bad, forbidden
    after: float
    key: str
    topic: str = ""
    text: str = ""
    due: float = 0.0


def steps(seconds: float) -> list[Step]:
    """Return the script for a demo of about ``seconds``, in the order it is played."""
    return sorted(_steps(seconds), key=lambda step: step.after)


def _steps(seconds: float) -> Iterator[Step]:
    span = seconds - 4
    for n in range(24):
        due = 4 + span * n / 24
        yield Step("schedule", 0, f"reminder-{n:02}", REMINDERS, f"remember no. {n}", due)
    for n in range(12):
        due = 6 + (span - 2) * n / 12
        yield Step("schedule", 0.5, f"order-{n:02}", ORDERS, f'{{"order":{n},"paid":false}}', due)
    for n in (5, 11, 17, 21):  # told again before it is due: the later word counts
        due = min(4 + span * n / 24 + 3, seconds)
        yield Step("schedule", 2, f"reminder-{n:02}", REMINDERS, f"remember no. {n}, moved", due)
    for n in (4, 7, 10):  # paid in time: no timeout is needed
        yield Step("cancel", 3, f"order-{n:02}")
    yield Step("schedule", 1, "late", REMINDERS, "due an hour ago, so sent at once", -3600)
    yield Step("bad", 1.5, "bad", text="this is no CloudEvent")
    for n in range(12):  # not due while the demo plays: something is left to look at
        due = 600 * 1.6**n
        yield Step("later", 1, f"later-{n:02}", OUTPUTS[n % 2], f"later, no. {n}", due)
    yield Step("repeat", 1, "standup", REMINDERS, "every ten minutes, a day long", 600)
    yield Step("forbidden", 1.5, "not-allowed", "payroll", "to a topic nobody allowed", 5)


def play(step: Step, client: Client, raw: Producer, topic: str, start: datetime) -> None:
    """Do one step; the bad record goes in without the client, which would not send it."""
    if step.what == "cancel":
        client.cancel(step.key)
    elif step.what == "bad":
        raw.produce(topic, step.text.encode(), step.key.encode())
        raw.flush()
    else:
        due = start + timedelta(seconds=step.due)
        repeat = Repeat(every="10m", count=144) if step.what == "repeat" else None
        client.schedule(step.text, topic=step.topic, key=step.key, at=due, repeat=repeat)


def due_instants(script: list[Step], start: datetime) -> dict[str, int]:
    """Return for each key that is due in the future its last instant, in microseconds."""
    start_micros = int(start.timestamp() * 1_000_000)
    return {
        step.key: start_micros + int(step.due * 1_000_000)
        for step in script
        if step.what == "schedule" and step.due > 0
    }


def last_due(script: list[Step]) -> float:
    """Return the seconds from the start to the last instant that is waited for."""
    return max(step.due for step in script if step.what == "schedule")


def all_out(script: list[Step], published: Sequence[Seen], dead: Sequence[Seen]) -> bool:
    """Tell whether every message that must come out has, and every bad one is a dead letter."""
    cancelled = {step.key for step in script if step.what == "cancel"}
    wanted = {step.key for step in script if step.what == "schedule"} - cancelled
    bad = {step.key for step in script if step.what in ("bad", "forbidden")}
    return wanted <= {each.key for each in published} and bad <= {each.key for each in dead}
