"""Headers that tell a consumer how a message came: how late, and which of a series it is."""

from dataclasses import dataclass

from pipeline.clock import exact_text
from pipeline.outbox.headers import Headers
from pipeline.outbox.item import Item, late_ms
from pipeline.outbox.lane import Flush

LATE = "duestream-late-ms"
OCCURRENCE = "duestream-occurrence"  # 1 for the first message of a series
SCHEDULED = "duestream-scheduled"


@dataclass(frozen=True, slots=True)
class Marks:
    """Which messages are marked."""

    late_after: int | None = None  # microseconds after its instant; None: no message is late
    unmarked: frozenset[str] = frozenset()  # source topics whose messages have exact headers

    def may_be_in(self, flush: Flush, now: int) -> bool:
        """Tell whether a message of the flush may be marked, from what is known of all together."""
        return any(chunk.traits.has_series or chunk.traits.was_moved for chunk in flush.chunks) or (
            bool(flush.items) and self._is_late(flush.items[0].due, now)
        )

    def of(self, item: Item, now: int) -> Headers:
        """Return the marks of a message."""
        marks: Headers = []
        scheduled = item.scheduled
        if self._is_late(scheduled, now):
            marks.append((LATE, b"%d" % late_ms(scheduled, now)))
        if item.chunk.traits.has_series and item.is_of_series:
            marks.append((OCCURRENCE, b"%d" % (item.version.occurrence + 1)))
            marks.append((SCHEDULED, exact_text(scheduled).encode()))
        if marks and self.unmarked and item.version.topic in self.unmarked:
            return []
        return marks

    def _is_late(self, scheduled: int, now: int) -> bool:
        return self.late_after is not None and now - scheduled > self.late_after
