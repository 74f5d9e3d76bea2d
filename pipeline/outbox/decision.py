"""What becomes of a message that is not published, as the state and a note are told it."""

from dataclasses import dataclass, field

from pipeline.reasons import Reason
from state import row
from state.row import Status


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one message instead of publishing it."""

    status: Status  # pending: it is tried again; else it ends so
    reason: Reason
    detail: str
    at: int  # when it was decided
    attempted_at: list[int] = field(default_factory=list)  # all attempts; none: it was not tried
    again_at: int | None = None

    def as_outcome(self) -> dict[str, object]:
        """Return the columns of the outcome.

        One that bears no attempt leaves those the row knows of as they are, and always acts.
        """
        return {
            row.STATUS: self.status.value,
            row.REASON: self.reason.value,
            row.DETAIL: self.detail,
            row.ATTEMPT: len(self.attempted_at) or None,
            row.ATTEMPTED_AT: self.attempted_at or None,
            row.PUBLISHED_AT: self.at if self.status is Status.DEAD else None,
            row.DUE: self.again_at,
        }
