"""Tells the mark that a message is out from the cancel of a schedule: both have no value.

A scheduler that has sent a message writes a record without a value for its key on the schedule
topic, so that the schedule no longer looks pending. By its headers it can be told from a cancel:

- kafka-message-scheduler writes ``schedule:expired: true``, and so does a drop-in for it.
- etf1 writes the headers of the message that it has sent, those of its source among them. A cancel
  bears none of these: they name a record that its sender has not seen.
- Karafka's cannot be told from a cancel. Either way nothing is pending any more.
- A drop-in for etf1 or Karafka says besides how the schedule ended, so that a job knows its own
  marks from all others.

Pure functions of one record, for whoever reads topics without Spark.
"""

from collections.abc import Iterable

Headers = Iterable[tuple[str, bytes | None]]

ENDED = "duestream-ended"  # in a mark of our own: how the schedule ended
EXPIRED = "schedule:expired"

ETF1_TIMESTAMP = "scheduler-timestamp"
ETF1_KEY = "scheduler-key"
ETF1_TOPIC = "scheduler-topic"
_ETF1 = frozenset({ETF1_TIMESTAMP, ETF1_KEY, ETF1_TOPIC})

_KMS = frozenset({"kms-avro", "kms-json"})
_TRUE = b"true"


def says_sent(
    dialect: str, key: bytes | None, value: bytes | None, headers: Headers | None
) -> bool:
    """Tell whether a record marks the schedule of its key as over, by us or the other scheduler.

    Over is what was sent; a mark of our own may be of a dead letter too. A record that has no
    value and is no mark is a cancel.
    """
    if is_passed_over(dialect, value, headers):
        return True
    return value is None and dialect == "etf1" and _is_of_etf1(key, list(headers or ()))


def is_passed_over(dialect: str, value: bytes | None, headers: Headers | None) -> bool:
    """Tell whether a job that reads the record passes it over.

    Not so the marks that etf1 itself has left: they end what is pending, as they did there. A job
    that passed them over would send again what etf1 has sent.
    """
    if value is not None:
        return False
    if dialect in _KMS:
        return any(name == EXPIRED and _is_true(said) for name, said in headers or ())
    if dialect in ("etf1", "karafka"):
        return any(name == ENDED for name, _ in headers or ())
    return False


def _is_true(said: bytes | None) -> bool:
    return (said or b"").lower() == _TRUE


def _is_of_etf1(key: bytes | None, headers: list[tuple[str, bytes | None]]) -> bool:
    names = {name for name, _ in headers}
    return names >= _ETF1 and any(name == ETF1_KEY and said == key for name, said in headers)
