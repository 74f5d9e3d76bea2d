"""The rules an event that schedules a message must keep besides those of every event."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.dialects.attributes import BASE64, DATA, WISHES, attribute
from pipeline.dialects.json_text import is_nested
from pipeline.dialects.wishes import (
    AT,
    AT_MICROS,
    DELAY,
    DELAY_MICROS,
    MESSAGE,
    OUT_PARTITION,
    TO,
    in_second_form,
    named,
    unsupported,
)
from pipeline.farthest import too_far
from pipeline.reasons import Reason
from pipeline.refuse import Rule, first_named, quoted, rule_naming, sentence
from state.row import DUE, SOURCE_TIMESTAMP

_BASE64_LETTERS = r"\A[A-Za-z0-9+/]*+={0,2}\z"
_PARTITION = r"\A\d{1,10}\z"
_UNITS = (
    " is more than 100 years ahead; check the unit: a bare number is seconds since the epoch, "
    "not milliseconds"
)


def rules_of_puts() -> list[Rule]:
    """Return what an event that schedules a message must keep besides."""
    return [*_rules_of_choice(), *_rules_of_time(), *_rules_of_content()]


def _rules_of_choice() -> list[Rule]:
    beside_meta = first_named(WISHES, lambda name: attribute(name).isNotNull())
    return [
        rule_naming(
            unsupported(),
            Reason.UNSUPPORTED_ATTRIBUTE,
            " is not supported yet; leave it out",
        ),
        rule_naming(
            F.when(in_second_form(), beside_meta),
            Reason.CONFLICTING_ATTRIBUTES,
            " stands beside data.metaData; say all of it in one of the two places",
        ),
        Rule(
            F.col(TO).isNull() | (F.col(TO) == ""),
            Reason.MISSING_ATTRIBUTE,
            sentence(
                named("outputtopic", "outputTopic"),
                " is missing or empty; name the topic to publish to",
            ),
        ),
        Rule(
            F.col(AT).isNotNull() & F.col(DELAY).isNotNull(),
            Reason.CONFLICTING_ATTRIBUTES,
            sentence(_at_name(), " and ", _delay_name(), " are both given; send one of them"),
        ),
        Rule(
            (F.col(DATA) != "null") & attribute(BASE64).isNotNull(),
            Reason.CONFLICTING_ATTRIBUTES,
            sentence("data and data_base64 are both given; send one of them"),
        ),
    ]


def _rules_of_time() -> list[Rule]:
    far = too_far(F.col(DUE), F.col(SOURCE_TIMESTAMP))
    name = F.when(F.col(AT).isNotNull(), _at_name()).otherwise(_delay_name())
    return [
        Rule(
            F.col(AT).isNotNull() & F.col(AT_MICROS).isNull(),
            Reason.INVALID_TIME,
            sentence(
                _at_name(),
                " ",
                quoted(F.col(AT)),
                " is not an instant; write it as 2030-01-31T09:00:00Z, with an offset, without "
                "leap seconds",
            ),
        ),
        Rule(
            F.col(DELAY).isNotNull() & F.col(DELAY_MICROS).isNull(),
            Reason.INVALID_DURATION,
            sentence(
                _delay_name(),
                " ",
                quoted(F.col(DELAY)),
                " is not a duration; write for example PT15M, P7D, 90s or 1h30m, larger units "
                "first",
            ),
        ),
        Rule(
            far,
            Reason.TIME_OUT_OF_RANGE,
            sentence(name, " ", quoted(F.coalesce(F.col(AT), F.col(DELAY))), _UNITS),
        ),
    ]


def _rules_of_content() -> list[Rule]:
    text, partition = attribute(BASE64), F.col(OUT_PARTITION)
    is_base64 = text.rlike(_BASE64_LETTERS) & (F.length(text) % 4 == 0)
    is_partition = partition.rlike(_PARTITION) & partition.try_cast("int").isNotNull()
    return [
        Rule(
            partition.isNotNull() & ~is_partition,
            Reason.INVALID_PARTITION,
            sentence(
                named("outputpartition", "outputPartition"),
                " ",
                quoted(partition),
                " is not a partition; send a whole number from 0",
            ),
        ),
        Rule(
            text.isNotNull() & ~is_base64,
            Reason.INVALID_BASE64,
            sentence("data_base64 ", quoted(text), " is not base64; encode it with padding"),
        ),
        Rule(
            is_nested(F.col(MESSAGE)),
            Reason.INVALID_MESSAGE,
            sentence(
                "data.message ",
                quoted(F.col(MESSAGE)),
                " is an object or an array; send it as a string that holds the JSON text",
            ),
        ),
    ]


def _at_name() -> Column:
    return named("deliverat", "startAt")


def _delay_name() -> Column:
    return named("delayby", "delayBy")
