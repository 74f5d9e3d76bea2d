"""A lane that is another's by now: how Kafka says so, and what is said then."""

from confluent_kafka import KafkaError as Code

from state.errors import KafkaError

FENCED = frozenset({Code._FENCED, Code.PRODUCER_FENCED, Code.INVALID_PRODUCER_EPOCH})


class TakenOver(KafkaError):
    """Another has opened the lane since."""

    def __init__(self) -> None:
        super().__init__(
            "another job has taken over this state's lanes, or this one was frozen for longer than "
            "publish.transaction_timeout; it stops so that nothing is published twice. Run one job "
            "per state; if no other runs, start this one again"
        )
