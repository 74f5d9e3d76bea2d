"""Asks Kafka until it answers: a cluster that cannot be reached is no reason to stop."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaException

log = logging.getLogger(__name__)

_WAIT = 1.0  # seconds between attempts

Answer = TypeVar("Answer")


def when_reached(
    ask: Callable[[], Answer], stop_if_told: Callable[[KafkaException], None]
) -> Answer:
    """Return the answer, however long it takes; ``stop_if_told`` raises when it must not go on."""
    while True:
        try:
            return ask()
        except KafkaException as error:
            stop_if_told(error)
            log.warning("waiting for Kafka: %s", error.args[0].str())
            time.sleep(_WAIT)
