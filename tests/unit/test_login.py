"""What a client hears of a cluster that does not let it in, however librdkafka words it."""

import pytest
from confluent_kafka import KafkaError as Code

from pipeline.login import turned_away

UNREACHED = Code(Code._TRANSPORT, "broker:9092/bootstrap: Connect to broker:9092 failed")
CLIENTS_NO = "error:0A000086:SSL routines::certificate verify failed (in state SSL_HANDSHAKE)"


@pytest.mark.parametrize(
    "no",
    [
        Code(Code._AUTHENTICATION, "SASL authentication error"),
        Code(Code._SSL, "SSL handshake failed"),
        Code(Code._TRANSPORT, CLIENTS_NO),
        Code(Code._TRANSPORT, "tlsv13 alert certificate required: SSL alert number 116"),
    ],
    ids=["password", "handshake", "certificate of the broker", "certificate of the client"],
)
def test_a_no_is_told_from_brokers_that_are_away(no: Code) -> None:
    assert turned_away([UNREACHED, no]) is no


def test_brokers_that_are_away_turn_nobody_away() -> None:
    assert turned_away([UNREACHED, Code(Code._ALL_BROKERS_DOWN)]) is None
