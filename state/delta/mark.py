"""What a fold leaves behind in ``schedules``: how far it went and the totals up to there.

The mark is a row of the same commit as the rows it speaks for, so a reader can never see one
without the other; and since it holds the totals, purging old rows does not change the ledger.
"""

import json
from collections import Counter
from dataclasses import dataclass, field

from state.admission import Marks
from state.resolve import Counts

# Rows of the history that a later outcome corrected: topic, partition, offset and occurrence of the
# version, and the commit before which its rows no longer hold.
Outdated = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Mark:
    """All commits up to ``seq`` are folded; ``stamps`` are the newest record timestamps in them."""

    seq: int = 0
    counts: Counts = field(default_factory=Counts)
    stamps: Marks = field(default_factory=dict)
    outdated: list[Outdated] = field(default_factory=list)

    def to_json(self) -> str:
        """Write the mark down."""
        return json.dumps(
            {
                "seq": self.seq,
                "accepted": self.counts.accepted,
                "rejected": self.counts.rejected,
                "late_cancels": self.counts.late_cancels,
                "missed": self.counts.missed,
                "ends": dict(self.counts.ends),
                "stamps": self.stamps,
                "outdated": self.outdated,
            },
            sort_keys=True,
        )

    @staticmethod
    def from_json(text: str) -> "Mark":
        """Read a mark back."""
        read = json.loads(text)
        counts = Counts(
            accepted=read["accepted"],
            rejected=read["rejected"],
            late_cancels=read["late_cancels"],
            missed=read["missed"],
            ends=Counter(read["ends"]),
        )
        outdated = [(t, p, o, n, s) for t, p, o, n, s in read["outdated"]]
        return Mark(read["seq"], counts, read["stamps"], outdated)
