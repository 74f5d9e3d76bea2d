"""What happens in each scenario: returns what was seen of it, without what it cost."""

import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from bench.far_ahead import FAR_KEYS
from bench.scenarios import Scenario, What
from bench.stage import Stage

Report = dict[str, Any]
_LEAD = 15.0  # seconds from the beginning of a load to the instant of all its messages
_LEADS = {"delta": _LEAD, "mongo": 75.0}  # of a burst: all of it must be taken in by then
_OVERDUE = 30.0
_START = 400.0  # seconds that an observer waits while a job starts
_PARTITIONS = 4


def steady(stage: Stage, scenario: Scenario) -> Report:
    """Serve so many a second."""
    count = scenario.rate * scenario.seconds
    first = stage.numbers()
    taken = len(stage.job.ticks())
    observer = stage.observe((first, count), [(first, count)])
    plan = {"first": first, "count": count, "rate": scenario.rate, "ahead": scenario.ahead}
    sent = stage.load(**plan)
    lag = count - sum(tick["commands"] for tick in stage.job.ticks()[taken:])
    told = {"sent_per_second": round(count / sent["seconds"]), "lag_at_end": lag}
    return stage.answer(observer) | told


def policy(stage: Stage, scenario: Scenario) -> Report:
    """Serve so many a second; half of them are for keys that are pending and are to be ignored."""
    count = scenario.rate * scenario.seconds // 2
    first, ignored = stage.numbers(), stage.numbers()
    observer = stage.observe((first, ignored + count - first), [(first, count)])
    plan = {"count": count, "rate": scenario.rate // 2, "ahead": scenario.ahead}
    other = stage.start_load(first=ignored, shift=FAR_KEYS - ignored, keep=True, **plan)
    stage.load(first=first, **plan)
    stage.answer(other)
    return stage.answer(observer)


def flood(stage: Stage, scenario: Scenario) -> Report:
    """Take in and publish as fast as it goes: from the first one sent to the last one out."""
    first, count = stage.numbers(), scenario.count
    observer = stage.observe((first, count), [(first, count)])
    sent = stage.load(first=first, count=count, ahead=(0.0, 0.0))
    report = stage.answer(observer)
    seconds = report["last_ms"] / 1000 - sent["begun"]
    return report | {"messages_per_second": round(count / seconds)}


def burst(stage: Stage, scenario: Scenario) -> Report:
    """Send messages that all fall due within one second."""
    report = _burst(stage, scenario, lambda at: None)
    return report | {"publish_rate": _rate(report)}


def kill(stage: Stage, scenario: Scenario) -> Report:
    """Do the same, and kill the job once a fifth is out."""
    before = _published(stage)
    down: dict[str, float] = {}

    def crash(at: float) -> None:
        while _published(stage) - before < scenario.count // 5 and time.time() < at + 30:
            time.sleep(0.02)
        stage.job.kill()
        down["out_when_killed"] = _published(stage) - before
        if down["out_when_killed"] >= scenario.count:
            raise SystemExit("all messages were out before the job was killed")
        begun = time.monotonic()
        stage.job.start()
        down["down_seconds"] = round(time.monotonic() - begun, 1)

    return _burst(stage, scenario, crash) | down


def backlog(stage: Stage, scenario: Scenario) -> Report:
    """Start the job when all are overdue."""
    count, first = scenario.count, stage.numbers()
    made = stage.make_overdue(first, count, _OVERDUE)
    observer = stage.observe((first, count), [(first, count)], _START)
    begun = time.time()
    started = stage.job.start()
    report = stage.answer(observer)
    first_out = report["first_ms"] / 1000 - begun
    told = {"publish_rate": _rate(report), "first_out_seconds": round(first_out, 1)}
    return report | told | made | started


def hot(stage: Stage, scenario: Scenario) -> Report:
    """Replace one key again and again, all versions for the same instant."""
    count, first = scenario.count, stage.numbers()
    last = first + count - 1
    observer = stage.observe((first, count), [(last, 1)])
    at = int((time.time() + _LEAD) * 1000)
    sent = stage.load(first=first, count=count, rate=1_000, at=at, spread=0.0, one_key=first)
    told = {"records": count, "replaced_per_second": round(count / sent["seconds"])}
    return stage.answer(observer) | told


def churn(stage: Stage, scenario: Scenario) -> Report:
    """Schedule all, then replace 40 % and cancel 40 % long before they are due."""
    count, first, second = scenario.count, stage.numbers(), stage.numbers()
    kept, replaced = count // 5, count * 2 // 5
    stays, new = (first, kept), (second + kept, replaced)
    observer = stage.observe((first, second + count - first), [stays, new])
    plan = {"rate": scenario.rate, "ahead": (25.0, 40.0)}
    stage.load(first=first, count=count, **plan)
    stage.load(first=second + kept, count=replaced, shift=first - second, **plan)
    gone = kept + replaced
    stage.load(first=first + gone, count=count - gone, cancel=True, **plan)
    return stage.answer(observer) | {"records": count * 9 // 5}


def idle(stage: Stage, scenario: Scenario) -> Report:
    """Let it tick with nothing to do."""
    time.sleep(scenario.seconds)
    return {}


def restart(stage: Stage, scenario: Scenario) -> Report:
    """Stop the job while some wait, start it when they are due, and see when the first is out."""
    count, first = scenario.count, stage.numbers()
    taken = len(stage.job.ticks())
    at = int((time.time() + 2 * _LEAD) * 1000)  # the job must be down by then
    stage.load(first=first, count=count, at=at, spread=0.5)
    stage.job.wait_for_commands(count, taken)
    stage.job.stop()
    if time.time() * 1000 > at:
        raise SystemExit("the job took too long to stop: its messages went out before")
    time.sleep(max(0.0, at / 1000 + 1 - time.time()))
    observer = stage.observe((first, count), [(first, count)], _START)
    begun = time.time()
    started = stage.job.start()
    report = stage.answer(observer)
    first_out = report["first_ms"] / 1000 - begun
    return (
        report
        | started
        | {
            "first_out_seconds": round(first_out, 2),
            "first_out_after_spark_seconds": round(first_out - started["spark_seconds"], 2),
        }
    )


ACTS: dict[What, Callable[[Stage, Scenario], Report]] = {
    What.STEADY: steady,
    What.POLICY: policy,
    What.FLOOD: flood,
    What.BURST: burst,
    What.KILL: kill,
    What.BACKLOG: backlog,
    What.HOT: hot,
    What.CHURN: churn,
    What.IDLE: idle,
    What.RESTART: restart,
}


def _burst(stage: Stage, scenario: Scenario, then: Callable[[float], None]) -> Report:
    count, first = scenario.count, stage.numbers()
    taken = len(stage.job.ticks())
    observer = stage.observe((first, count), [(first, count)], _START)
    at = time.time() + _LEADS[stage.store]
    stage.load(first=first, count=count, at=int(at * 1000), spread=scenario.spread)
    stage.job.wait_for_commands(count, taken)
    known_ahead = at - time.time()
    if known_ahead < 0:
        raise SystemExit("the burst fell due before all of it was taken in")
    then(at)
    report = stage.answer(observer)
    return report | {"known_ahead_seconds": round(known_ahead, 1)}


def _rate(report: Report) -> int:
    """Return messages a second from the first append to the last."""
    return round(report["messages"] / max(0.001, (report["last_ms"] - report["first_ms"]) / 1000))


def _published(stage: Stage) -> int:
    """Return how many records the output topic has."""
    consumer = Consumer({"bootstrap.servers": stage.servers, "group.id": "bench-counts"})
    places = (TopicPartition(stage.topics[1], n) for n in range(_PARTITIONS))
    ends = sum(consumer.get_watermark_offsets(place, 30)[1] for place in places)
    consumer.close()
    return int(ends)
