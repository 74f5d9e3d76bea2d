"""The rules an event that schedules a message must keep besides those of every event."""

from pyspark.sql import functions as F

from pipeline.dialects.attributes import BASE64, DATA, WISHES, attribute
from pipeline.dialects.durations import is_duration
from pipeline.dialects.json_text import is_nested
from pipeline.dialects.wishes import (
    AT_MICROS,
    DELAY_MICROS,
    MESSAGE,
    in_second_form,
    wish,
)
from pipeline.farthest import too_far
from pipeline.reasons import Reason
from pipeline.refuse import Rule
from state.row import DUE, SOURCE_TIMESTAMP

_BASE64_LETTERS = r"\A[A-Za-z0-9+/]*+={0,2}\z"
_RETRIES = r"\A\d{1,6}\z"
_PARTITION = r"\A\d{1,10}\z"


def rules_of_puts() -> list[Rule]:
    """Return what an event that schedules a message must keep besides."""
    return [*_rules_of_choice(), *_rules_of_time(), *_rules_of_content()]


def _rules_of_choice() -> list[Rule]:
    at, delay, topic = wish("deliverat"), wish("delayby"), wish("outputtopic")
    return [
        Rule(
            in_second_form() & F.coalesce(*map(attribute, WISHES)).isNotNull(),
            Reason.CONFLICTING_ATTRIBUTES,
            f"one of {', '.join(WISHES)} stands beside data.metaData; say all of it in one of the "
            "two places",
        ),
        Rule(
            F.coalesce(topic, F.lit("")) == "",
            Reason.MISSING_ATTRIBUTE,
            "{names[outputtopic]} is missing or empty; name the topic to publish to",
        ),
        Rule(
            at.isNotNull() & delay.isNotNull(),
            Reason.CONFLICTING_ATTRIBUTES,
            "{names[deliverat]}{wish[deliverat]} and {names[delayby]}{wish[delayby]} are both "
            "given; send one of them",
        ),
        Rule(
            ~F.col(DATA).isin("null", "") & attribute(BASE64).isNotNull(),
            Reason.CONFLICTING_ATTRIBUTES,
            "data and data_base64 are both given; send one of them",
        ),
    ]


def _rules_of_time() -> list[Rule]:
    at, delay = wish("deliverat"), wish("delayby")
    return [
        Rule(
            at.isNotNull() & F.col(AT_MICROS).isNull(),
            Reason.INVALID_TIME,
            "{names[deliverat]}{wish[deliverat]} is not an instant; write it as "
            "2030-01-31T09:00:00Z, with an offset and without leap seconds",
        ),
        Rule(
            delay.isNotNull() & F.col(DELAY_MICROS).isNull(),
            Reason.INVALID_DURATION,
            "{names[delayby]}{wish[delayby]} is not a duration; write for example PT15M, P7D, 90s "
            "or 1h30m",
        ),
        *[
            Rule(
                too_far(F.col(DUE), F.col(SOURCE_TIMESTAMP)) & wish(name).isNotNull(),
                Reason.TIME_OUT_OF_RANGE,
                f"{{names[{name}]}}{{wish[{name}]}} is more than 100 years ahead; check the unit: "
                "a bare number is seconds since the epoch, not milliseconds",
            )
            for name in ("deliverat", "delayby")
        ],
    ]


def _rules_of_content() -> list[Rule]:
    text, partition = attribute(BASE64), wish("outputpartition")
    is_base64 = text.rlike(_BASE64_LETTERS) & (F.length(text) % 4 == 0)
    is_partition = partition.rlike(_PARTITION) & partition.try_cast("int").isNotNull()
    return [
        Rule(
            partition.isNotNull() & ~is_partition,
            Reason.INVALID_PARTITION,
            "{names[outputpartition]}{wish[outputpartition]} is not a partition; send a whole "
            "number from 0",
        ),
        Rule(
            ~wish("retrymax").rlike(_RETRIES),
            Reason.INVALID_RETRY,
            "{names[retrymax]}{wish[retrymax]} is not a number of retries; send a whole number "
            "from 0",
        ),
        Rule(
            ~is_duration(wish("retryfor")),
            Reason.INVALID_RETRY,
            "{names[retryfor]}{wish[retryfor]} is not a duration; write for example PT1H or 90s",
        ),
        Rule(
            ~is_base64,
            Reason.INVALID_BASE64,
            "data_base64{event[data_base64]} is not base64; encode it with the standard letters "
            "and with padding",
        ),
        Rule(
            is_nested(F.col(MESSAGE)),
            Reason.INVALID_MESSAGE,
            "data.message{message} is an object or an array; send it as a string that holds the "
            "JSON text",
        ),
    ]
