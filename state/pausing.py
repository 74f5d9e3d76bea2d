"""Says what is paused, and which rows that holds back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from state.row import KIND, OUTPUT_TOPIC, Kind

UNPARK_ROWS = 50_000  # how many rows one commit brings back at most


@dataclass(frozen=True, slots=True)
class Paused:
    """What is not to go out: messages for some output topics, or all messages."""

    everything: bool = False
    topics: frozenset[str] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        """Return it in a form fit for JSON."""
        return {"everything": self.everything, "topics": sorted(self.topics)}

    @staticmethod
    def from_dict(read: Mapping[str, Any]) -> "Paused":
        """Read it back."""
        return Paused(bool(read["everything"]), frozenset(read["topics"]))

    def holds(self, kind: str, topic: str | None) -> bool:
        """Tell whether a row is held back; dead letters and replies never are."""
        return kind == Kind.MESSAGE and (self.everything or topic in self.topics)

    def parted(self, rows: pa.Table) -> tuple[pa.Table, pa.Table, npt.NDArray[np.bool_]]:
        """Return the rows that are held back, the others, and which are held back."""
        held = self.held(rows)
        if not held.any():
            return rows.slice(0, 0), rows, held
        return rows.filter(pa.array(held)), rows.filter(pa.array(~held)), held

    def held(self, rows: pa.Table) -> npt.NDArray[np.bool_]:
        """Tell which rows are held back."""
        if not (self.everything or self.topics):
            return np.zeros(rows.num_rows, np.bool_)
        messages = pc.equal(rows.column(KIND), Kind.MESSAGE.value)
        if not self.everything:
            named = pa.array(sorted(self.topics), pa.string())
            messages = pc.and_(messages, pc.is_in(rows.column(OUTPUT_TOPIC), named))
        return np.asarray(messages.to_numpy(), np.bool_)
