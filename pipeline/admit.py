"""Holds every command against the rules of this installation; what breaks one is refused."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.farthest import too_far
from pipeline.raw import CONTROL
from pipeline.reasons import Reason
from pipeline.refuse import Rule, refuse
from state.errors import ConfigError
from state.row import (
    DUE,
    ENTRY,
    KEY,
    OUTPUT_TOPIC,
    PAYLOAD,
    SOURCE_TIMESTAMP,
    Entry,
)

_LEGAL_TOPIC = r"\A(?!\.{1,2}\z)[a-zA-Z0-9._-]{1,249}\z"
_LEGAL_NAME = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
_LEGAL_PATTERN = re.compile(r"[a-zA-Z0-9._*?-]+")


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

    def allows(self, topic: str) -> bool:
        """Tell whether a schedule may publish to ``topic``."""
        if topic in self.reserved or not re.fullmatch(_LEGAL_NAME, topic):
            return False
        return any(
            fnmatchcase(topic, pattern) and (pattern.startswith("__") or not topic.startswith("__"))
            for pattern in self.allow
        )


def admit(commands: DataFrame, rules: AdmitRules) -> DataFrame:
    """Refuse every command that breaks a rule and is not refused yet."""
    return refuse(commands, [*_of_key(rules), *_of_put(rules)])


def _of_key(rules: AdmitRules) -> list[Rule]:
    size = F.octet_length(F.col(KEY))
    return [
        Rule(
            (F.col(KEY).isNull() | (size == 0)) & (F.col(ENTRY) != CONTROL),
            Reason.MISSING_KEY,
            "the record has no key; send it with one, the key names the schedule",
        ),
        Rule(
            size > rules.max_key_bytes,
            Reason.KEY_TOO_LARGE,
            "a record key of {key_bytes} bytes is too large; at most "
            f"{rules.max_key_bytes} are allowed (limits.max_key_bytes)",
        ),
    ]


def _of_put(rules: AdmitRules) -> list[Rule]:
    put = F.col(ENTRY) == Entry.PUT.value
    return [
        rule._replace(broken=put & rule.broken) for rule in (*_of_topic(rules), *_of_size(rules))
    ]


def _of_topic(rules: AdmitRules) -> list[Rule]:
    topic = F.col(OUTPUT_TOPIC)
    return [
        Rule(
            topic.isNull() | ~topic.rlike(_LEGAL_TOPIC),
            Reason.INVALID_TOPIC,
            "the output topic{topic} is not a topic name; use at most 249 letters, digits, '.', "
            "'_' and '-'",
        ),
        Rule(
            topic.isin(*rules.reserved),
            Reason.RESERVED_TOPIC,
            "the output topic{topic} is read or kept by this job; publish to another one",
        ),
        Rule(
            ~topic.rlike(_allowed(rules.allow)),
            Reason.TOPIC_NOT_ALLOWED,
            "the output topic{topic} is not allowed; add it to outputs.allow",
        ),
    ]


def _of_size(rules: AdmitRules) -> list[Rule]:
    size = F.octet_length(F.col(PAYLOAD))
    return [
        Rule(
            size > rules.max_payload_bytes,
            Reason.PAYLOAD_TOO_LARGE,
            "a payload of {payload_bytes} bytes is too large; at most "
            f"{rules.max_payload_bytes} are allowed (limits.max_payload_bytes)",
        ),
        Rule(
            too_far(F.col(DUE), F.col(SOURCE_TIMESTAMP)),
            Reason.TIME_OUT_OF_RANGE,
            "the due time{due}, in microseconds, is more than 100 years ahead; check its unit",
        ),
    ]


def _allowed(patterns: tuple[str, ...]) -> str:
    """Return one expression for all patterns; it matches nothing when there are none."""
    return rf"\A(?:{'|'.join(map(_one_pattern, patterns))})\z" if patterns else r"(?!)"


def _one_pattern(pattern: str) -> str:
    text = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    # Kafka's own topics begin with two underscores; only a pattern that says so reaches them.
    return text if pattern.startswith("__") else f"(?!__){text}"
