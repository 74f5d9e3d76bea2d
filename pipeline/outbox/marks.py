"""Headers that tell a consumer how a message came: how late, and which of a series it is."""

from dataclasses import dataclass

from pipeline.clock import exact_text
from pipeline.outbox.headers import Headers
from pipeline.outbox.item import Item, late_ms
from pipeline.outbox.lane import Flush

LATE = "duestream-late-ms"
OCCURRENCE = "duestream-occurrence"  # 1 for the first message of a series
SCHEDULED = "duestream-scheduled"
NEVER = -(2**63)


@dataclass(frozen=True, slots=True)
class Marks:
    """Which messages are marked."""

    late_after: int | None = None  # microseconds after its instant; None: no message is late
    unmarked: frozenset[str] = frozenset()  # source topics whose messages have exact headers

    def may_be_in(self, flush: Flush, now: int) -> bool:
        """Tell whether a message of the flush may be marked, from what is known of all together."""
        return any(chunk.traits.has_series or chunk.traits.was_moved for chunk in flush.chunks) or (
            bool(flush.items) and flush.items[0].due < self.late_before(now)
        )

    def are_but_late(self, flush: Flush) -> bool:
        """Tell whether no message of the flush has another mark than that it is late."""
        return not any(
            chunk.traits.has_series
            or chunk.traits.was_moved
            or not chunk.traits.are_messages
            or not self.unmarked.isdisjoint(chunk.traits.sources)
            for chunk in flush.chunks
        )

    def late_before(self, now: int) -> int:
        """Return the instant such that whatever was due before it is late at ``now``."""
        return NEVER if self.late_after is None else now - self.late_after

    def of(self, item: Item, now: int) -> Headers:
        """Return the marks of a message."""
        marks: Headers = []
        scheduled = item.scheduled
        if scheduled < self.late_before(now):
            marks.append(late_mark(scheduled, now))
        if item.chunk.traits.has_series and item.is_of_series:
            marks.append((OCCURRENCE, b"%d" % (item.version.occurrence + 1)))
            marks.append((SCHEDULED, exact_text(scheduled).encode()))
        if marks and self.unmarked and item.version.topic in self.unmarked:
            return []
        return marks


class LateMarks(dict[int, Headers]):
    """The header that says how late a message is, by milliseconds; of many it is made once."""

    def __missing__(self, milliseconds: int) -> Headers:
        """Make it."""
        made: Headers = [_late(milliseconds)]
        self[milliseconds] = made
        return made


def late_mark(scheduled: int, now: int) -> tuple[str, bytes]:
    """Return the header that says how late a message is."""
    return _late(late_ms(scheduled, now))


def _late(milliseconds: int) -> tuple[str, bytes]:
    return (LATE, b"%d" % milliseconds)
