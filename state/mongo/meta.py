"""The one document that says how far a state is; changing it is what commits a batch."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from state.admission import Marks
from state.errors import StateError
from state.pausing import Paused
from state.resolve import Counts

META_ID = "state"
COPY_ID = "copy"  # in its place while a state is being copied to the database
LAYOUT = 2


@dataclass(frozen=True, slots=True)
class Meta:
    """A state after its commit ``seq``."""

    state_id: str
    seq: int = 0
    token: str = ""  # names the journal of this commit
    writer: str = ""  # the one process that may commit next
    last_batch: int = -1
    lanes: int = 0  # by which the schedules are divided; 0 while that is not known
    oldest_claim: int = 0  # no batch before it has a claim that is not settled
    taken: Marks = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    paused: Paused = field(default_factory=Paused)
    pending: dict[str, int] | None = None  # messages by output topic; None: nobody has counted yet

    def to_document(self) -> dict[str, Any]:
        """Write it down; topics may hold dots, so they are values, not names."""
        return {
            "_id": META_ID,
            "layout": LAYOUT,
            "state_id": self.state_id,
            "seq": self.seq,
            "token": self.token,
            "writer": self.writer,
            "last_batch": self.last_batch,
            "lanes": self.lanes,
            "oldest_claim": self.oldest_claim,
            "taken": [
                {"topic": topic, "partition": int(partition), "offset": offset}
                for topic, partitions in self.taken.items()
                for partition, offset in partitions.items()
            ],
            "accepted": self.counts.accepted,
            "rejected": self.counts.rejected,
            "late_cancels": self.counts.late_cancels,
            "missed": self.counts.missed,
            "ends": dict(self.counts.ends),
            "paused": self.paused.to_dict(),
            "pending": None
            if self.pending is None
            else [{"topic": topic, "count": count} for topic, count in self.pending.items()],
        }

    @staticmethod
    def from_document(read: Mapping[str, Any]) -> "Meta":
        """Read it back."""
        if read["layout"] != LAYOUT:
            raise StateError(
                f"the state in MongoDB has layout {read['layout']}, this version reads {LAYOUT}; "
                "use the version that wrote it, or another state.mongo.database"
            )
        taken: Marks = {}
        for mark in read["taken"]:
            taken.setdefault(mark["topic"], {})[str(mark["partition"])] = mark["offset"]
        return Meta(
            state_id=read["state_id"],
            seq=read["seq"],
            token=read["token"],
            writer=read["writer"],
            last_batch=read["last_batch"],
            lanes=read["lanes"],
            oldest_claim=read["oldest_claim"],
            taken=taken,
            counts=Counts(
                accepted=read["accepted"],
                rejected=read["rejected"],
                late_cancels=read["late_cancels"],
                missed=read["missed"],
                ends=Counter(read["ends"]),
            ),
            paused=Paused.from_dict(read["paused"]),
            pending=None
            if read.get("pending") is None
            else {each["topic"]: each["count"] for each in read["pending"]},
        )

    def after(self, **changes: Any) -> "Meta":
        """Return it with some fields changed."""
        return replace(self, **changes)
