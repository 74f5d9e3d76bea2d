"""Tells a message that Kafka will not take from a cluster that cannot be reached."""

from dataclasses import dataclass

from confluent_kafka import KafkaError as Code

from pipeline.reasons import Reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one message cannot be published, while others can."""

    reason: Reason
    detail: str


_OF_A_ROW = {
    Code.MSG_SIZE_TOO_LARGE: Reason.TOO_LARGE_FOR_TOPIC,
    Code.INVALID_MSG_SIZE: Reason.TOO_LARGE_FOR_TOPIC,
    Code.RECORD_LIST_TOO_LARGE: Reason.TOO_LARGE_FOR_TOPIC,
    Code.TOPIC_AUTHORIZATION_FAILED: Reason.NOT_AUTHORIZED,
    Code.UNKNOWN_TOPIC_OR_PART: Reason.UNKNOWN_TOPIC,
    Code._UNKNOWN_TOPIC: Reason.UNKNOWN_TOPIC,
    Code.TOPIC_EXCEPTION: Reason.UNKNOWN_TOPIC,
    Code._UNKNOWN_PARTITION: Reason.UNKNOWN_PARTITION,
    Code.POLICY_VIOLATION: Reason.REFUSED_BY_BROKER,
    Code.INVALID_RECORD: Reason.REFUSED_BY_BROKER,
}


def is_of_a_row(error: Code) -> bool:
    """Tell whether an error is about the record, not about the cluster."""
    return error.code() in _OF_A_ROW


def is_too_large(error: Code) -> bool:
    """Tell whether a record was refused for its size."""
    return _OF_A_ROW.get(error.code()) is Reason.TOO_LARGE_FOR_TOPIC


def refusal_of(error: Code, topic: str) -> Refusal | None:
    """Return why this one message is refused; None when the error is not about the message."""
    reason = _OF_A_ROW.get(error.code())
    if reason is None:
        return None
    return Refusal(reason, f"topic {topic}: {error.str()}")
