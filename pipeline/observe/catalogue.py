"""Every metric there is, as data: what is exported, documented, plotted and alerted on.

Names and units are those of OpenTelemetry; ``prometheus_names`` says what becomes of them there.
"""

from dataclasses import dataclass
from enum import StrEnum

MESSAGE = "{message}"
SECOND = "s"

# From a thousandth of a second to a day.
LATENESS_BOUNDS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0),
)
DURATION_BOUNDS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0),
)


class MetricKind(StrEnum):
    """How a metric behaves."""

    COUNTER = "counter"  # only grows while the job runs
    GAUGE = "gauge"  # stands where it stands
    HISTOGRAM = "histogram"  # counts by size


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric."""

    name: str
    kind: MetricKind
    unit: str  # UCUM; what stands in braces is but a word
    description: str
    attributes: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()  # of a histogram: the upper ends of its buckets

    @property
    def prometheus_name(self) -> str:
        """The name of the family in Prometheus, without ``_total``, ``_bucket`` and the like."""
        name = self.name.replace(".", "_")
        return f"{name}_seconds" if self.unit == SECOND else name

    @property
    def prometheus_names(self) -> tuple[str, ...]:
        """The names of its series in Prometheus."""
        family = self.prometheus_name
        if self.kind is MetricKind.COUNTER:
            return (f"{family}_total",)
        if self.kind is MetricKind.HISTOGRAM:
            return f"{family}_bucket", f"{family}_count", f"{family}_sum"
        return (family,)


ATTRIBUTES = {
    "topic": "of what comes in and of the lag the input topic, of what goes out the output topic",
    "reason": "the reason code, as in a dead letter's header",
    "stage": "read, decide, commit, hand_over or maintain",
}


def _counter(name: str, description: str, *attributes: str, unit: str = MESSAGE) -> Metric:
    return Metric(name, MetricKind.COUNTER, unit, description, attributes)


def _gauge(name: str, unit: str, description: str, *attributes: str) -> Metric:
    return Metric(name, MetricKind.GAUGE, unit, description, attributes)


def _histogram(
    name: str, description: str, *attributes: str, bounds: tuple[float, ...] = DURATION_BOUNDS
) -> Metric:
    return Metric(name, MetricKind.HISTOGRAM, SECOND, description, attributes, bounds)


# What comes in.
ACCEPTED = _counter("duestream.messages.accepted", "schedules taken from the input topics", "topic")
REJECTED = _counter(
    "duestream.messages.rejected",
    "records refused when they were read; each becomes a dead letter",
    *("topic", "reason"),
)
SOURCE_LAG = _gauge(
    "duestream.source.lag",
    "{record}",
    "records on the topics it reads that the last micro-batch left behind",
    "topic",
)

# What goes out, or does not.
PUBLISHED = _counter("duestream.messages.published", "messages published", "topic")
LATENESS = _histogram(
    "duestream.lateness",
    "from the instant asked for to the end of the transaction that published the message",
    bounds=LATENESS_BOUNDS,
)
RETRIED = _counter(
    "duestream.messages.retried", "refusals by Kafka after which it is tried again", "reason"
)
DEAD = _counter(
    "duestream.messages.dead", "messages that Kafka refused for good: dead letters", "reason"
)
EXPIRED = _counter("duestream.messages.expired", "messages not sent because they had expired")
CANCELLED = _counter(
    "duestream.messages.cancelled", "messages cancelled; with Delta known at the next fold"
)
REPLACED = _counter(
    "duestream.messages.replaced",
    "messages replaced by a newer record of their key; with Delta known at the next fold",
)
MISSED = _counter(
    "duestream.occurrences.missed",
    "occurrences of repeats that were passed over; with Delta known at the next fold",
    unit="{occurrence}",
)
LATE_CANCELS = _counter(
    "duestream.cancels.late",
    "cancels that found nothing pending; with Delta known at the next fold",
    unit="{record}",
)

# What waits.
PENDING = _gauge(
    "duestream.messages.pending",
    MESSAGE,
    "messages that wait, in the state or the outbox; with Delta those replaced or cancelled far "
    "ahead of their instant count until the next fold",
)
OVERDUE = _gauge(
    "duestream.messages.overdue", MESSAGE, "messages whose instant has passed and that are not out"
)
OVERDUE_AGE = _gauge(
    "duestream.overdue.age", SECOND, "how long the oldest of these is overdue; 0 without any"
)
NEXT_DUE = _gauge(
    "duestream.next_due.timestamp",
    SECOND,
    "the instant of the next message; none without any; with Delta one replaced or cancelled far "
    "ahead of its instant counts until the next fold",
)
WAITING = _gauge("duestream.outbox.waiting", MESSAGE, "messages in memory, ready for their instant")
HELD = _gauge(
    "duestream.outbox.held",
    MESSAGE,
    "of these, those held because a newer record of their key waits to be read",
)
LOOKAHEAD = _gauge("duestream.lookahead", SECOND, "how far ahead the last micro-batch claimed")

# How the job does.
TICK = _histogram("duestream.tick.duration", "one micro-batch, from its start to its end")
STAGE = _histogram("duestream.tick.stage.duration", "the stages of a micro-batch", "stage")
LAST_TICK = _gauge("duestream.tick.timestamp", SECOND, "when the last micro-batch ended")
FLUSH = _histogram(
    "duestream.flush.duration", "publishing what is due on a lane: as a rule one transaction"
)
FOLD = _histogram("duestream.fold.duration", "folding the changelog; with Delta only")
LAST_FOLD = _gauge("duestream.fold.timestamp", SECOND, "when the last fold ended; with Delta only")
UNFOLDED = _gauge(
    "duestream.fold.waiting", "{line}", "lines of the changelog not folded yet; with Delta only"
)

METRICS = (
    *(ACCEPTED, REJECTED, SOURCE_LAG),
    *(PUBLISHED, LATENESS, RETRIED, DEAD, EXPIRED, CANCELLED, REPLACED, MISSED, LATE_CANCELS),
    *(PENDING, OVERDUE, OVERDUE_AGE, NEXT_DUE, WAITING, HELD, LOOKAHEAD),
    *(TICK, STAGE, LAST_TICK, FLUSH, FOLD, LAST_FOLD, UNFOLDED),
)
