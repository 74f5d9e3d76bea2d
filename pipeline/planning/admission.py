"""Holds a message against the rules of the installation, as the settings say them."""

import re
from dataclasses import dataclass
from fnmatch import translate

from pipeline.config.settings import Settings
from pipeline.config.topics import checked_topic
from pipeline.planning.message import Message
from pipeline.planning.refused import EventRefusedError, refuse
from pipeline.reasons import Reason

_OF_KAFKA = "__"  # how the topics of Kafka itself begin


@dataclass(frozen=True, slots=True)
class Admission:
    """What a record must satisfy to be taken."""

    allow: tuple[str, ...]
    reserved: frozenset[str]
    max_payload_bytes: int
    max_key_bytes: int

    @staticmethod
    def by(settings: Settings) -> "Admission":
        """Return what the settings say."""
        return Admission(
            tuple(settings.outputs.allow),
            settings.reserved_topics,
            settings.limits.max_payload_bytes,
            settings.limits.max_key_bytes,
        )

    def check_key(self, key: bytes | None) -> None:
        """Refuse a key that is empty or too large; None is one that is not known here."""
        if key == b"":
            refuse(
                Reason.MISSING_KEY,
                "the record has no key; send it with one, the key names the schedule",
            )
        self.check_key_size(key)

    def check_key_size(self, key: bytes | None) -> None:
        """Refuse a key that is too large."""
        if key is not None and len(key) > self.max_key_bytes:
            refuse(
                Reason.KEY_TOO_LARGE,
                f"a record key of {len(key)} bytes is too large; at most {self.max_key_bytes} are "
                "allowed (limits.max_key_bytes)",
            )

    def check_message(self, message: Message) -> None:
        """Refuse a message that may not go where it wants to, or is too large."""
        self._check_topic(message.topic)
        size = len(message.payload or b"")
        if size > self.max_payload_bytes:
            refuse(
                Reason.PAYLOAD_TOO_LARGE,
                f"a payload of {size} bytes is too large; at most {self.max_payload_bytes} are "
                "allowed (limits.max_payload_bytes)",
            )

    def takes(self, topic: str) -> bool:
        """Tell whether a message may go to the topic."""
        try:
            self._check_topic(topic)
        except EventRefusedError:
            return False
        return True

    def allows(self, topic: str) -> bool:
        """Tell whether one of the patterns names the topic."""
        return any(
            re.fullmatch(translate(pattern), topic)
            and (pattern.startswith(_OF_KAFKA) or not topic.startswith(_OF_KAFKA))
            for pattern in self.allow
        )

    def _check_topic(self, topic: str) -> None:
        try:
            checked_topic(topic)
        except ValueError:
            refuse(
                Reason.INVALID_TOPIC,
                f"the output topic '{topic[:200]}' is not a topic name; use at most 249 letters, "
                "digits, '.', '_' and '-'",
            )
        if topic in self.reserved:
            refuse(
                Reason.RESERVED_TOPIC,
                f"the output topic '{topic}' is read or kept by this job; publish to another one",
            )
        if not self.allows(topic):
            refuse(
                Reason.TOPIC_NOT_ALLOWED,
                f"the output topic '{topic}' is not allowed; add it to outputs.allow",
            )
