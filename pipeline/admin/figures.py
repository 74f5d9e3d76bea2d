"""Counts what people and programs ask for: what waits where, what comes, how late messages were."""

import json
from typing import Any

from pipeline.admin.shown import instant, micros_of
from pipeline.as_json import stats_json
from pipeline.clock import now_micros
from pipeline.config.spans import write_duration
from state.clock import MINUTE
from state.errors import ConfigError
from state.inspect import Inspector, due_counts, lateness, pending_by_topic

Counted = dict[str, Any]

MOST_STEPS = 10_000
FARTHEST = 366 * 86_400_000_000  # a cron expression is played through to the end
_SHARES = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99, "p999_ms": 0.999}


def stats(state: Inspector) -> Counted:
    """Count: what was accepted, where it is now, what is due next, which commit this is of."""
    counted: Counted = json.loads(stats_json(state.stats(now_micros())))
    return counted | {"as_of": instant(state.moment().at)}


def forecast(
    state: Inspector,
    since: int,
    until: int,
    step: int = MINUTE,
    topic: str | None = None,
    repeats: bool = True,
) -> Counted:
    """Count what falls due from ``since`` up to ``until``, by steps and output topics.

    Steps in which nothing is due have no line. What is overdue by now is counted by itself.
    """
    now = now_micros()
    _check(now, since, until, step)
    found = due_counts(state, now, until, step, topic, repeats).to_pylist()
    lines = [{**line, "time": micros_of(line["time"])} for line in found]
    first = since - since % step
    wanted = [line for line in lines if line["time"] >= first]
    overdue = sum(line["waiting"] for line in lines if line["time"] < now - now % step)
    return {
        "from": instant(first),
        "to": instant(until),
        "step": write_duration(step),
        "overdue": overdue,
        "steps": [{**line, "time": instant(line["time"])} for line in wanted],
    }


def late(state: Inspector, since: int, topic: str | None = None) -> Counted:
    """Tell how late what was published since an instant went out."""
    found = lateness(state, since, topic)
    shares = {name: round(found.share(of), 3) for name, of in _SHARES.items()}
    table = found.table().to_pylist()
    return {
        "since": instant(since),
        "count": found.count,
        "early": found.early,
        "max_ms": found.longest,
        **shares,
        "distribution": table,
    }


def topics(state: Inspector) -> list[Counted]:
    """Count what is pending by output topic, and tell which topics are paused."""
    now = now_micros()
    pauses = state.stats(now).pauses
    lines = {line["topic"]: line for line in pending_by_topic(state).to_pylist()}
    for name in pauses.topics:
        empty = {"topic": name, "pending": 0, "paused": 0, "first_due": None, "last_due": None}
        lines.setdefault(name, empty)
    return [
        {
            "topic": name,
            "pending": line["pending"],
            "held_back": line["paused"] or 0,
            "paused": pauses.everything or name in pauses.topics,
            "first_due": instant(micros_of(line["first_due"])),
            "last_due": instant(micros_of(line["last_due"])),
        }
        for name, line in sorted(lines.items())
    ]


def paused(state: Inspector) -> Counted:
    """Tell what is held back: everything, which topics, how many messages in all."""
    counted = state.stats(now_micros())
    return {**counted.pauses.to_dict(), "held_back": counted.paused}


def _check(now: int, since: int, until: int, step: int) -> None:
    if until <= since or until <= now:
        raise ConfigError("to: must lie after from, and after now")
    if until - now > FARTHEST:
        raise ConfigError("to: is more than 366 days ahead; give an earlier instant")
    if step < 1_000_000 or (until - min(now, since)) // step > MOST_STEPS:
        raise ConfigError(
            f"step: must be a second or more, and make at most {MOST_STEPS} steps up to to"
        )
