"""What people and programs may ask of a state, beside the job that writes it and without a JVM.

``open_inspector`` opens the state that the settings name. An inspector answers with rows as they
are kept; the functions here answer with small tables for people: times in UTC, texts, one line for
what one wants to know. Instants and spans are microseconds. All of it serves notebooks, the command
line and any program alike, on every store.
"""

from typing import TYPE_CHECKING

from state.answers import Page, busiest, history, page, pending_by_topic, throughput
from state.clock import DAY, HOUR, MINUTE, SECOND, instant_text, micros_of, now_micros
from state.cursor import Cursor, Order
from state.differing import difference
from state.forecast import due_counts, load
from state.inspector import Filter, Inspector, Ledger, Moment, Stats
from state.lateness import Lateness, lateness
from state.later import later
from state.readable import readable
from state.row import CLOSED, LIVE, Status

if TYPE_CHECKING:
    from state.open import open_inspector
else:  # only this needs the stores, which take a second to load
    __getattr__ = later(__name__, {"open_inspector": "state.open"})

__all__ = [
    "CLOSED",
    "DAY",
    "HOUR",
    "LIVE",
    "MINUTE",
    "SECOND",
    "Cursor",
    "Filter",
    "Inspector",
    "Lateness",
    "Ledger",
    "Moment",
    "Order",
    "Page",
    "Stats",
    "Status",
    "busiest",
    "difference",
    "due_counts",
    "history",
    "instant_text",
    "lateness",
    "load",
    "micros_of",
    "now_micros",
    "open_inspector",
    "page",
    "pending_by_topic",
    "readable",
    "throughput",
]
