"""The columns of a schedule: their names, their Arrow types and the values they may take."""

from enum import StrEnum

import pyarrow as pa

# Who it is. An identity is the source topic, a NUL byte and the record key. A version of it is what
# one record on the source topic makes, named by its coordinates, or one of the repeats it asks for.
IDENTITY = "identity"
HASH = "hash"  # crc32 of the identity; its remainder by the number of lanes is the lane
SOURCE_TOPIC = "source_topic"
SOURCE_PARTITION = "source_partition"
SOURCE_OFFSET = "source_offset"
SOURCE_TIMESTAMP = "source_timestamp"
OCCURRENCE = "occurrence"  # 0 for what the record itself makes, k for its k-th repeat
KEY = "key"
KIND = "kind"

# The occurrence that the row of a command bears: a message that the command moved is named by the
# same record, and coordinates must name one row only.
OF_COMMAND = -1

# What goes out, where and when. All times are microseconds since the epoch, in UTC.
OUTPUT_TOPIC = "output_topic"
OUTPUT_PARTITION = "output_partition"
OUTPUT_KEY = "output_key"
PAYLOAD = "payload"
HEADERS = "headers"
DUE = "due"  # when to release it next
SCHEDULED = "scheduled"  # the instant that was asked for; later DUE when it is tried again
POLICY = "policy"  # what this message asks for besides, as JSON
REPEATS = '"repeat"'  # stands in the policy of whatever repeats

# The due of a pending row that is held back: its output topic is paused, or it alone is. Far beyond
# every instant that is admitted, and still one that can be written as a date.
PARKED = 253_402_214_400_000_000  # 9999-12-31
PARKED_ALONE = PARKED + 1

# What became of it.
STATUS = "status"
CLAIM = "claim"  # the batch that claimed the row for release
ATTEMPT = "attempt"  # how often Kafka refused it
ATTEMPTED_AT = "attempted_at"  # when: one instant for each attempt
REASON = "reason"
DETAIL = "detail"
PUBLISHED_PARTITION = "published_partition"
PUBLISHED_OFFSET = "published_offset"
PUBLISHED_AT = "published_at"
BATCH = "batch"  # the batch that last changed the row
CHANGED_AT = "changed_at"

# What a micro-batch says of it.
ENTRY = "entry"
SUPERSEDED = "superseded"  # older puts of the same identity in the same batch
SKIPPED = "skipped"  # on an occurrence that the store made: how many were passed over before it
BATCH_TIME = "batch_time"


class Status(StrEnum):
    """Where a schedule is in its life; all but the first two are final."""

    PENDING = "pending"
    CLAIMED = "claimed"
    DONE = "done"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    EXPIRED = "expired"
    DEAD = "dead"


LIVE = frozenset({Status.PENDING, Status.CLAIMED})
CLOSED = frozenset(set(Status) - LIVE)


class Kind(StrEnum):
    """What a row stands for: a message somebody scheduled, or what was done instead."""

    MESSAGE = "message"
    REJECTION = "rejection"  # its payload is a dead letter; it was never accepted
    COMMAND = "command"  # an order to the job and its effect; its payload is a reply, if any


class Entry(StrEnum):
    """What a line of a micro-batch, or of the changelog, does to the identity it names."""

    PUT = "put"  # a new version, pending
    CANCEL = "cancel"  # withdraws whatever is pending
    IGNORED = "ignored"  # a put that the policy of its key turned away; REASON says why
    REJECT = "reject"  # a refused record, to be published as a dead letter
    COMMAND = "command"  # an order to the job, to be remembered, and answered if it has a topic
    NOTE = "note"  # a decision of the outbox, read back from the internal topic
    CLOCK = "clock"  # nothing but the time of the batch
    CLAIM = "claim"  # the row goes to the outbox (of a version not seen before: made as well)
    REPEAT = "repeat"  # the occurrence that follows one that is claimed, pending
    OUTCOME = "outcome"  # the row ends, or goes back to pending


INSTANTS_TYPE = pa.list_(pa.int64())
HEADERS_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

RECORD_FIELDS = [
    pa.field(IDENTITY, pa.binary()),
    pa.field(SOURCE_TOPIC, pa.string()),
    pa.field(SOURCE_PARTITION, pa.int32()),
    pa.field(SOURCE_OFFSET, pa.int64()),
    pa.field(SOURCE_TIMESTAMP, pa.int64()),
]

VERSION_FIELDS = [*RECORD_FIELDS, pa.field(OCCURRENCE, pa.int32())]

CONTENT_FIELDS = [
    pa.field(HASH, pa.int64()),
    pa.field(KEY, pa.binary()),
    pa.field(KIND, pa.string()),
    pa.field(OUTPUT_TOPIC, pa.string()),
    pa.field(OUTPUT_PARTITION, pa.int32()),
    pa.field(OUTPUT_KEY, pa.binary()),
    pa.field(PAYLOAD, pa.binary()),
    pa.field(HEADERS, HEADERS_TYPE),
    pa.field(DUE, pa.int64()),
    pa.field(POLICY, pa.string()),
]

OUTCOME_FIELDS = [
    pa.field(STATUS, pa.string()),
    pa.field(ATTEMPT, pa.int32()),
    pa.field(ATTEMPTED_AT, INSTANTS_TYPE),
    pa.field(REASON, pa.string()),
    pa.field(DETAIL, pa.string()),
    pa.field(PUBLISHED_PARTITION, pa.int32()),
    pa.field(PUBLISHED_OFFSET, pa.int64()),
    pa.field(PUBLISHED_AT, pa.int64()),
]

# What an outcome leaves as it was when it does not say otherwise.
KEPT = (ATTEMPT, ATTEMPTED_AT)

# One row of the state table.
ROW = pa.schema(
    [
        *VERSION_FIELDS,
        *CONTENT_FIELDS,
        pa.field(SCHEDULED, pa.int64()),
        *OUTCOME_FIELDS,
        pa.field(CLAIM, pa.int64()),
        pa.field(BATCH, pa.int64()),
        pa.field(CHANGED_AT, pa.int64()),
    ]
)

# What the topology hands to the store: of puts and cancels the newest per identity, and the rest.
COMMANDS = pa.schema(
    [
        pa.field(ENTRY, pa.string()),
        *RECORD_FIELDS,
        pa.field(OCCURRENCE, pa.int32()),  # if it is not the first of its series
        *CONTENT_FIELDS,
        pa.field(SCHEDULED, pa.int64()),  # if that is another instant than DUE
        pa.field(REASON, pa.string()),
        pa.field(DETAIL, pa.string()),
        pa.field(SUPERSEDED, pa.int32()),
    ]
)

# What the outbox reports. A status of pending puts the row back (its due is then DUE).
OUTCOMES = pa.schema([*VERSION_FIELDS, *OUTCOME_FIELDS, pa.field(DUE, pa.int64())])
