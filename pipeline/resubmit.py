"""Sends again what ended as dead: a message as due now, a refused record exactly as it came."""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from pipeline.config.settings import Settings
from pipeline.dead import OWN_HEADERS, Row, newer_versions, version_of
from pipeline.event import Mode
from pipeline.scheduling import Client
from pipeline.sender import Receipt
from state.inspector import Inspector
from state.row import (
    HEADERS,
    KEY,
    KIND,
    OUTPUT_KEY,
    OUTPUT_PARTITION,
    OUTPUT_TOPIC,
    PAYLOAD,
    POLICY,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    Kind,
)
from state.rules.policy import Policy

_TIMEOUT = timedelta(seconds=15)
_CARRIED = ("traceparent", "tracestate", "correlationid")
_EVENTS = "application/cloudevents"


class Plan(NamedTuple):
    """What is to be sent, oldest first, and what is not, each with the newer version of its key."""

    send: list[Row]
    skip: list[tuple[Row, Row]]


def plan_resubmit(inspector: Inspector, rows: list[Row], *, force: bool = False) -> Plan:
    """Leave out what has a newer version, which it would replace; ``force`` sends all the same."""
    in_order = sorted(rows, key=lambda row: (version_of(row).timestamp, version_of(row)))
    if force:
        return Plan(in_order, [])
    send: list[Row] = []
    skip: list[tuple[Row, Row]] = []
    for row, newer in zip(in_order, newer_versions(inspector, in_order), strict=True):
        if newer is None:
            send.append(row)
        else:
            skip.append((row, newer))
    return Plan(send, skip)


def resubmit(settings: Settings, rows: list[Row]) -> Iterator[tuple[Row, Receipt]]:
    """Send each row to the topic it came from; yield it with where Kafka put the record."""
    clients: dict[str, Client] = {}
    for row in rows:
        topic = row[SOURCE_TOPIC]
        if topic not in clients:
            clients[topic] = Client(settings, topic=topic, timeout=_TIMEOUT)
        send = schedule_again if row[KIND] == Kind.MESSAGE else send_again
        yield row, send(clients[topic], row)


def schedule_again(client: Client, row: Row) -> Receipt:
    """Schedule a message as it was, due now."""
    headers = {header["key"]: header["value"] for header in row[HEADERS] or []}
    content_type = headers.get("content-type", b"").decode() or None
    own_key, asked = row[OUTPUT_KEY] == row[KEY], Policy.from_json(row[POLICY])
    return client.schedule(
        row[PAYLOAD],
        topic=row[OUTPUT_TOPIC],
        key=row[KEY],
        delay=timedelta(),
        output_key=None if own_key else row[OUTPUT_KEY].decode(),
        content_type=content_type,
        attributes=_attributes(row, headers),
        retry_max=asked.retrymax,
        retry_for=None if asked.retryfor is None else timedelta(microseconds=asked.retryfor),
        mode=_mode(content_type),
    )


def send_again(client: Client, row: Row) -> Receipt:
    """Send a refused record to the partition it came from, without what its letter added."""
    headers = [(header["key"], header["value"]) for header in row[HEADERS] or []]
    own = [(name, value) for name, value in headers if not name.startswith(OWN_HEADERS)]
    return client.forward(row[KEY], row[PAYLOAD], own, partition=row[SOURCE_PARTITION])


def _attributes(row: Row, headers: dict[str, bytes]) -> dict[str, str]:
    carried = {name: headers[name].decode() for name in _CARRIED if name in headers}
    partition = row[OUTPUT_PARTITION]
    place = {} if partition is None else {"outputpartition": str(partition)}
    return carried | place


def _mode(content_type: str | None) -> Mode:
    # A payload that is an event itself would, in binary mode, be read as the event to schedule.
    return "structured" if _EVENTS in (content_type or "").lower() else "binary"
