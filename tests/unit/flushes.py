"""Flushes of claimed rows, as a lane lets them go."""

from typing import Any

from pipeline.outbox.item import items_by_lane
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from tests.integration.rows import claimed

SECOND = 1_000_000
NOW = 1_800_000_000 * SECOND


def flush_of(*keys: bytes, **columns: list[Any]) -> Flush:
    """Rows with these keys, scheduled for NOW and due then; other columns as given."""
    at = [NOW] * len(keys)
    given = {"key": list(keys), "due": at, "output_topic": ["out"] * len(keys)} | columns
    rows = claimed(**{"scheduled": given["due"], "payload": [b"v"] * len(keys)} | given)
    return Flush([item for _, item in items_by_lane(rows, 1)], Marker(1, NOW, 1))
