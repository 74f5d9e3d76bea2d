"""The reasons why a record or a message is refused: a code for programs, a sentence for people."""

from enum import StrEnum


class Reason(StrEnum):
    """A reason code, as it stands in the header of a dead letter; ``sentence`` explains it."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> "Reason":
        """Make a member that is its code and knows its sentence."""
        reason = str.__new__(cls, code)
        reason._value_ = code
        reason.sentence = sentence
        return reason

    # Found while a record is read.
    NOT_A_CLOUDEVENT = (
        "not_a_cloudevent",
        "The record has a content type other than CloudEvents in JSON, and no ce_ headers.",
    )
    INVALID_JSON = (
        "invalid_json",
        "The value is not one JSON object in UTF-8, or it is nested too deeply.",
    )
    UNSUPPORTED_SPECVERSION = (
        "unsupported_specversion",
        "The event says a specversion other than 1.0.",
    )
    MISSING_ATTRIBUTE = ("missing_attribute", "An attribute that every event needs is not there.")
    INVALID_ATTRIBUTE = (
        "invalid_attribute",
        "An attribute is not text in UTF-8, a number or a boolean.",
    )
    CONFLICTING_ATTRIBUTES = (
        "conflicting_attributes",
        "Two attributes were given of which only one can be followed.",
    )
    MISSING_FIELD = (
        "missing_field",
        "A field or header that the dialect of the topic needs is not there.",
    )
    INVALID_FIELD = (
        "invalid_field",
        "A field or header has a value that the dialect of the topic does not know.",
    )
    INVALID_AVRO = ("invalid_avro", "The value is not a schedule in Avro's binary encoding.")
    INVALID_TIME = (
        "invalid_time",
        "The time of delivery is no RFC 3339 instant, or not a time as its dialect counts.",
    )
    INVALID_DURATION = ("invalid_duration", "The delay is not a duration.")
    TIME_OUT_OF_RANGE = (
        "time_out_of_range",
        "The time of delivery is more than 100 years ahead, most likely given in a wrong unit.",
    )
    INVALID_PARTITION = ("invalid_partition", "The output partition is not a partition number.")
    INVALID_RETRY = ("invalid_retry", "How often or how long to try again cannot be read.")
    INVALID_REPEAT = ("invalid_repeat", "How the message repeats cannot be read.")
    ENDLESS_REPEAT = ("endless_repeat", "The repeat has no end, which is not allowed here.")
    INVALID_POLICY = (
        "invalid_policy",
        "What to do about a pending message of the same key cannot be read, or not done.",
    )
    INVALID_EXPIRY = ("invalid_expiry", "The message would expire before it is due.")
    INVALID_COMMAND = ("invalid_command", "What a command asks for cannot be read.")
    INVALID_BASE64 = ("invalid_base64", "The binary data is not base64.")
    INVALID_MESSAGE = ("invalid_message", "The message is a JSON object or array.")

    # Found when a command that could be read is held against the rules.
    MISSING_KEY = ("missing_key", "The record has no key, and the key names the schedule.")
    KEY_TOO_LARGE = ("key_too_large", "The record key is larger than is allowed here.")
    PAYLOAD_TOO_LARGE = ("payload_too_large", "The payload is larger than is allowed here.")
    INVALID_TOPIC = ("invalid_topic", "The output topic is not a name that Kafka allows.")
    RESERVED_TOPIC = ("reserved_topic", "The output topic is one this job reads or keeps itself.")
    TOPIC_NOT_ALLOWED = (
        "topic_not_allowed",
        "The output topic is not on the list of those allowed.",
    )
    TOO_LARGE_FOR_STATE = (
        "too_large_for_state",
        "The message is larger than the state store keeps of one; the dead letter has no value.",
    )

    # Found when a message is due and Kafka will not take it.
    UNKNOWN_TOPIC = ("unknown_topic", "The output topic does not exist.")
    UNKNOWN_PARTITION = ("unknown_partition", "The output topic has no such partition.")
    TOO_LARGE_FOR_TOPIC = ("too_large_for_topic", "The message is larger than its topic takes.")
    NOT_AUTHORIZED = ("not_authorized", "This job may not write to the output topic.")
    REFUSED_BY_BROKER = (
        "refused_by_broker",
        "The broker refused the message by a rule of its own.",
    )

    # Found when a message is due, before Kafka is asked.
    EXPIRED = ("expired", "The message could not be sent before the instant it expires.")


_SENTENCES = {reason.value: reason.sentence for reason in Reason}


def sentence_of(code: str | None) -> str | None:
    """Return what a code means; None for one that is not known."""
    return _SENTENCES.get(code or "")
