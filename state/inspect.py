"""What people and programs may ask of a state, beside the job that writes it and without a JVM.

``open_inspector`` (in ``state.open``) opens the state that the settings name. An inspector answers
with rows as they are kept; the functions here answer with small tables for people: times in UTC,
texts, one line for what one wants to know. All of them serve notebooks, the command line and any
program alike, on every store.
"""

from state.answers import Page, busiest, history, page, pending_by_topic, throughput
from state.cursor import Cursor
from state.differing import difference
from state.forecast import due_counts, load
from state.inspector import Filter, Inspector, Ledger, Moment, Stats
from state.lateness import Lateness, lateness
from state.readable import readable

__all__ = [
    "Cursor",
    "Filter",
    "Inspector",
    "Lateness",
    "Ledger",
    "Moment",
    "Page",
    "Stats",
    "busiest",
    "difference",
    "due_counts",
    "history",
    "lateness",
    "load",
    "page",
    "pending_by_topic",
    "readable",
    "throughput",
]
