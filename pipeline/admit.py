"""Holds every command against the rules of this installation; what breaks one gets a reason."""

import re
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.farthest import too_far
from pipeline.reasons import Reason
from pipeline.refuse import Rule, first_refusal, quoted, sentence
from state.errors import ConfigError
from state.row import (
    DETAIL,
    DUE,
    ENTRY,
    KEY,
    OUTPUT_TOPIC,
    PAYLOAD,
    REASON,
    SOURCE_TIMESTAMP,
    Entry,
)

_LEGAL_TOPIC = r"\A(?!\.{1,2}\z)[a-zA-Z0-9._-]{1,249}\z"
_LEGAL_PATTERN = re.compile(r"[a-zA-Z0-9._*?-]+")
_REFUSAL = "_refusal"


@dataclass(frozen=True, slots=True)
class AdmitRules:
    """What a command must satisfy to be taken."""

    allow: tuple[str, ...]  # output topics, by name or by pattern with * and ?
    max_payload_bytes: int
    max_key_bytes: int
    reserved: tuple[str, ...] = ()  # never an output, whatever is allowed

    def __post_init__(self) -> None:
        for pattern in self.allow:
            if not _LEGAL_PATTERN.fullmatch(pattern):
                raise ConfigError(
                    f"outputs.allow: {pattern!r} cannot match a topic; use letters, digits, "
                    "'.', '_', '-' and the wildcards '*' and '?'"
                )


def admit(commands: DataFrame, rules: AdmitRules) -> DataFrame:
    """Give a reason to every command that breaks a rule and has none yet."""
    broken = [*_of_key(rules), *_of_put(rules)]
    refusal = first_refusal(broken, already=F.col(REASON).isNotNull())
    return (
        commands.withColumn(_REFUSAL, refusal)
        .withColumns({REASON: F.col(_REFUSAL)[REASON], DETAIL: F.col(_REFUSAL)[DETAIL]})
        .drop(_REFUSAL)
    )


def _of_key(rules: AdmitRules) -> list[Rule]:
    size = F.octet_length(F.col(KEY))
    return [
        Rule(
            F.col(KEY).isNull() | (size == 0),
            Reason.MISSING_KEY,
            sentence("the record has no key; send it with one, the key names the schedule"),
        ),
        Rule(
            size > rules.max_key_bytes,
            Reason.KEY_TOO_LARGE,
            sentence(
                "the record key has ",
                size,
                " bytes; at most ",
                str(rules.max_key_bytes),
                " are allowed (limits.max_key_bytes)",
            ),
        ),
    ]


def _of_put(rules: AdmitRules) -> list[Rule]:
    put = F.col(ENTRY) == Entry.PUT.value
    topic, size = F.col(OUTPUT_TOPIC), F.octet_length(F.col(PAYLOAD))
    return [
        Rule(
            put & ~F.coalesce(topic.rlike(_LEGAL_TOPIC), F.lit(False)),
            Reason.INVALID_TOPIC,
            sentence(
                "the output topic ",
                quoted(topic),
                " is not a topic name; use at most 249 letters, digits, '.', '_' and '-'",
            ),
        ),
        Rule(
            put & topic.isin(*rules.reserved),
            Reason.RESERVED_TOPIC,
            sentence(
                "the output topic ",
                quoted(topic),
                " is read or kept by this job; publish to another one",
            ),
        ),
        Rule(
            put & ~topic.rlike(_allowed(rules.allow)),
            Reason.TOPIC_NOT_ALLOWED,
            sentence(
                "the output topic ", quoted(topic), " is not allowed; add it to outputs.allow"
            ),
        ),
        Rule(
            put & (size > rules.max_payload_bytes),
            Reason.PAYLOAD_TOO_LARGE,
            sentence(
                "the payload has ",
                size,
                " bytes; at most ",
                str(rules.max_payload_bytes),
                " are allowed (limits.max_payload_bytes)",
            ),
        ),
        Rule(
            put & too_far(F.col(DUE), F.col(SOURCE_TIMESTAMP)),
            Reason.TIME_OUT_OF_RANGE,
            sentence(
                "the due time ",
                F.col(DUE),
                " (microseconds) is more than 100 years ahead; check its unit",
            ),
        ),
    ]


def _allowed(patterns: tuple[str, ...]) -> str:
    """Return one expression for all patterns; it matches nothing when there are none."""
    return rf"\A(?:{'|'.join(map(_one_pattern, patterns))})\z" if patterns else r"(?!)"


def _one_pattern(pattern: str) -> str:
    text = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    # Kafka's own topics begin with two underscores; only a pattern that says so reaches them.
    return text if pattern.startswith("__") else f"(?!__){text}"
