"""Finds which messages of a flush Kafka refuses, when it has refused a whole batch of records."""

from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError as Code

from pipeline.outbox.lane import Flush
from pipeline.outbox.refusal import Refusal, refusal_of

# Sends the messages with these numbers so that they leave no trace, and returns the errors.
Probe = Callable[[Sequence[int]], dict[int, Code]]


def doubtful(flush: Flush, errors: dict[int, Code]) -> list[int]:
    """Return the messages whose error is about a message, not about the cluster."""
    return [n for n in errors if n >= 0 and refusal_in(flush, n, errors)]


def at_fault(flush: Flush, numbers: Sequence[int], probe: Probe) -> dict[int, Refusal]:
    """Return the refusal of each message at fault, by halving; the others were only near it."""
    errors = probe(numbers)
    if len(numbers) == 1:
        refusal = refusal_in(flush, numbers[0], errors)
        return {numbers[0]: refusal} if refusal else {}
    if not errors:
        return {}
    middle = len(numbers) // 2
    return at_fault(flush, numbers[:middle], probe) | at_fault(flush, numbers[middle:], probe)


def refusal_in(flush: Flush, number: int, errors: dict[int, Code]) -> Refusal | None:
    """Return why message ``number`` is refused, if its error is about the message."""
    item, error = flush.items[number], errors.get(number)
    return refusal_of(error, item.chunk.topic[item.index]) if error else None
