"""Holds what came out of a soak against what was asked for, and against the state's ledger."""

from dataclasses import dataclass, fields

import numpy as np

from bench.soak_load import SURE_MS, Asked
from state.inspect import Ledger
from state.row import Status


@dataclass(frozen=True, slots=True)
class Account:
    """Where every message is; all but the first three must be zero."""

    asked: int  # messages, each occurrence of a repeat one
    published: int
    withdrawn: int  # replaced or cancelled long before their instant
    lost: int
    twice: int
    early: int
    unwanted: int  # out, though withdrawn long before
    unknown: int  # out, and never asked for
    difference: int  # what the ledger's ends do not add up to
    miscounted: int  # between the ledger and what was sent and seen
    dead: int  # dead letters more or fewer than bad events

    def faults(self) -> dict[str, int]:
        """Return what must not be, by name."""
        named = {each.name: getattr(self, each.name) for each in fields(self)[3:]}
        return {name: count for name, count in named.items() if count}


def account(asked: Asked, seen: np.ndarray, ledger: Ledger, dead_letters: int) -> Account:
    """Account for every message; ``seen`` are entries of bench.soak_observer."""
    total = len(asked.due)
    counts, withdrawn = np.array(asked.count), np.array(asked.withdrawn)
    due = np.array(asked.due, np.int64)
    known = seen[(seen["number"] >= 0) & (seen["number"] < total)]
    fits = known[known["occurrence"] <= counts[known["number"]]]
    places = np.concatenate([[0], np.cumsum(counts)])  # each occurrence has a place
    times = np.bincount(places[fits["number"]] + fits["occurrence"] - 1, minlength=places[-1])
    out = np.add.reduceat(times > 0, places[:-1]) if total else np.zeros(0, int)
    every = np.array(asked.every, np.int64)
    instants = due[fits["number"]] + every[fits["number"]] * (fits["occurrence"] - 1)
    surely_gone = (withdrawn > 0) & (due - withdrawn >= SURE_MS)
    compared = [
        (asked.accepted, ledger.accepted),
        (asked.bad, ledger.rejected),
        (len(seen), ledger.ends.get(Status.DONE, 0)),
    ]
    return Account(
        asked=asked.accepted,
        published=len(seen),
        withdrawn=int(surely_gone.sum()),
        lost=int((counts - out)[withdrawn == 0].sum()),
        twice=int((times[times > 1] - 1).sum()),
        early=int((fits["at"] < instants).sum()),
        unwanted=int((out[surely_gone] > 0).sum()),
        unknown=len(seen) - len(fits),
        difference=abs(ledger.difference),
        miscounted=sum(abs(ours - theirs) for ours, theirs in compared),
        dead=abs(dead_letters - asked.bad),
    )
