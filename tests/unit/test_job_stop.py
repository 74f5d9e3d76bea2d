"""The order in which a job that is told to stop lets go, and what it says then."""

from types import SimpleNamespace

import pytest

from pipeline.job import Job
from state.errors import KafkaError


def stopped(failure: BaseException | None) -> list[str]:
    """Stop a job whose last batch ended so; return what was asked for, in order."""
    asked: list[str] = []

    def part(name: str, **more: object) -> SimpleNamespace:
        def ask(what: str) -> object:
            return lambda: asked.append(f"{name}.{what}")

        return SimpleNamespace(give_up=ask("give_up"), stop=ask("stop"), **more)

    job = Job.__new__(Job)
    job._store, job._outbox = part("store"), part("outbox")
    job._ticker = part("ticker", failure=failure)
    job._stop(part("query"))
    return asked


def test_nobody_waits_for_kafka_any_more_when_the_last_batch_is_waited_for() -> None:
    """Its lanes may be lent, and Kafka away: to take them back would take until it is there."""
    asked = stopped(None)
    assert asked == ["store.give_up", "outbox.give_up", "ticker.stop", "query.stop"]


def test_what_stopped_the_last_batch_is_raised() -> None:
    with pytest.raises(KafkaError, match="away"):
        stopped(KafkaError("away"))


def test_what_spark_says_of_a_query_that_is_stopped_is_no_news() -> None:
    assert stopped(RuntimeError("interrupted"))
