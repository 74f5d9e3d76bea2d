"""Which messages may be at fault when Kafka refuses records."""

from confluent_kafka import KafkaError as Code

from pipeline.outbox.blame import doubtful
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.session import SIDE


def test_an_error_of_the_marker_alone_blames_no_message() -> None:
    nothing = Flush([], Marker(1, 2, 1))
    assert doubtful(nothing, {SIDE: Code(Code._MSG_TIMED_OUT)}) == []
