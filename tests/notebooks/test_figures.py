"""What is asked of a state is answered alike on every store."""

from dataclasses import replace

import pyarrow.compute as pc
import pytest
from making import DONE, FAR, HOUR, MINUTE, MOVED, NEAR, REFUSED, REPEATED, Made

from pipeline.client import Reason, dead_by_reason
from state.errors import ConfigError, StateError
from state.inspect import (
    Cursor,
    Filter,
    busiest,
    difference,
    due_counts,
    history,
    lateness,
    load,
    page,
    pending_by_topic,
    throughput,
)
from state.row import LIVE, Status


def test_pending_is_counted_by_topic_with_what_is_paused_apart(made: Made) -> None:
    counted = {row["topic"]: row for row in pending_by_topic(made.inspector).to_pylist()}
    assert sum(row["pending"] for row in counted.values()) == NEAR + FAR + 4
    assert counted["invoices"]["paused"] == 1
    assert counted["orders"]["paused"] == 0
    first = counted["orders"]["first_due"].timestamp() * 1_000_000
    assert first == made.maker.at(1)


def test_pages_go_through_all_rows_once_in_the_order_of_release(made: Made) -> None:
    where, keys, dues = Filter(statuses=LIVE), [], []
    while True:
        rows, after = page(made.inspector, where, size=7)
        keys += rows.column("key").to_pylist()
        dues += [due for due in rows.column("due").to_pylist() if due is not None]
        if after is None:
            break
        where = replace(where, after=Cursor.from_text(after.to_text()))
    everything = made.inspector.rows(Filter(statuses=LIVE)).column("key").to_pylist()
    assert keys == [key.decode() for key in everything]
    assert len(set(keys)) == len(keys) == NEAR + FAR + 4
    assert dues == sorted(dues)


def test_a_page_is_narrowed_by_the_beginning_of_a_key(made: Made) -> None:
    rows, after = page(made.inspector, Filter(statuses=LIVE, key_prefix=b"far-0"), size=4)
    assert rows.column("key").to_pylist() == ["far-00", "far-01", "far-02", "far-03"]
    rest = page(made.inspector, Filter(statuses=LIVE, key_prefix=b"far-0", after=after))
    assert rest.rows.num_rows == 6
    assert rest.after is None
    assert page(made.inspector, Filter(key_prefix=b"\xff")).rows.num_rows == 0
    many = made.inspector.tally(Filter(statuses=LIVE, key_prefix=b"far-"), [])
    assert many.column("count").to_pylist() == [FAR]


@pytest.mark.parametrize("text", ["", "x", "W10", "WzEsMiwzLDQsNSw2XQ"])
def test_a_place_that_was_not_given_out_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"after: .* is not a place in the list"):
        Cursor.from_text(text)


def test_history_tells_the_versions_of_a_key(made: Made) -> None:
    told = history(made.inspector, MOVED).to_pylist()
    assert [row["status"] for row in told] == ["replaced", "pending"]
    done = history(made.inspector, "done-005").to_pylist()[0]
    assert (done["status"], done["late_ms"]) == ("done", 15.0)


def test_lateness_is_right_to_one_per_cent(made: Made) -> None:
    late = lateness(made.inspector, made.maker.at(-120))
    assert (late.count, late.early, late.longest) == (DONE, 0, 249.0)
    assert late.share(0.5) == pytest.approx(129, rel=0.02)
    assert late.share(1) == pytest.approx(249, rel=0.02)
    steps = {row["up_to_ms"]: row["messages"] for row in late.table().to_pylist()}
    assert sum(steps.values()) == DONE
    assert (steps[5.0], steps[10.0], steps[20.0], steps[500.0]) == (0, 1, 10, 49)
    half = lateness(made.inspector, made.maker.at(-120), topic="orders")
    assert half.count == DONE // 2


def test_throughput_counts_receipts_by_minute(made: Made) -> None:
    counted = throughput(made.inspector, made.maker.at(-70))
    assert sum(counted.column("published").to_pylist()) == DONE
    minutes = counted.group_by("time").aggregate([("published", "sum")])
    assert set(minutes.column("published_sum").to_pylist()) <= {3, 4, 5}
    later = throughput(made.inspector, made.maker.at(-30), made.maker.at(-10))
    assert sum(later.column("published").to_pylist()) == 80
    assert busiest(made.inspector, made.maker.at(-70), seconds=60) == pytest.approx(4 / 60)


def test_what_is_due_is_forecast_with_all_that_repeats(made: Made) -> None:
    now, hour = made.maker.now, made.maker.now + HOUR
    coming = due_counts(made.inspector, now, hour)
    assert sum(coming.column("waiting").to_pylist()) == NEAR + 1
    assert sum(coming.column("repeats").to_pylist()) == 5
    week = due_counts(made.inspector, now, now + 9 * 24 * HOUR, step=HOUR)
    reminders = week.filter(pc.field("topic") == "reminders").to_pylist()
    # every ten minutes up to its thousandth time, and the nights after the first nightly one
    assert sum(row["repeats"] for row in reminders) == 999 + 2
    silent = due_counts(made.inspector, now, hour, with_repeats=False)
    assert sum(silent.column("repeats").to_pylist()) == 0
    assert REPEATED in page(made.inspector, Filter(repeating=True)).rows.column("key").to_pylist()


def test_a_load_above_the_rate_is_told_before_it_comes(made: Made) -> None:
    now, until = made.maker.now, made.maker.now + HOUR
    coming = due_counts(made.inspector, now, until)
    easy = load(coming, 1.0, now, until).to_pylist()
    assert len(easy) == 60
    assert sum(row["due"] for row in easy) == NEAR + 1 + 5
    assert all(row["waiting"] == 0 for row in easy)
    hard = load(coming, 0.5 / 60, now, until).to_pylist()  # one message in two minutes
    assert hard[-1]["waiting"] == NEAR + 1 + 5 - 29  # in the first minute nothing is due
    assert hard[-1]["late_s"] == pytest.approx(hard[-1]["waiting"] * 120, abs=60)
    with pytest.raises(ConfigError, match="per_second"):
        load(coming, 0, now, until)
    with pytest.raises(ConfigError, match="until"):
        due_counts(made.inspector, now, now)


def test_the_dead_are_counted_by_their_reasons(made: Made) -> None:
    counted = dead_by_reason(made.inspector).to_pylist()
    assert [(row["reason"], row["kind"], row["dead"]) for row in counted] == [
        ("invalid_json", "rejection", REFUSED - 1),
        ("unknown_topic", "message", 3),
        ("invalid_time", "rejection", 1),
    ]
    assert counted[1]["meaning"] == Reason.UNKNOWN_TOPIC.sentence


def test_only_delta_keeps_earlier_states(made: Made) -> None:
    assert made.inspector.keeps_earlier is (made.kind == "delta")
    if made.kind != "delta":
        with pytest.raises(StateError, match=f"state.kind is {made.kind}: this store keeps no"):
            made.inspector.as_of(made.maker.now)


def test_the_difference_of_two_instants_is_what_happened_between(on_delta: Made) -> None:
    at, look = on_delta.maker.at, on_delta.inspector
    one, other = look.as_of(at(-105)), look.as_of(at(-95))
    told = difference(one, other).to_pylist()
    assert {(row["key"], row["before"], row["after"]) for row in told} == {
        (MOVED, "pending", "replaced"),
        (MOVED, None, "pending"),
        ("cancelled", "pending", "cancelled"),
    }
    out = difference(look.as_of(at(-31)), look.as_of(at(-29))).to_pylist()
    assert len(out) == 120
    assert {(row["before"], row["after"]) for row in out} == {("claimed", "done")}
    assert difference(other, other).num_rows == 0
    with pytest.raises(StateError, match="the first state is the later one"):
        difference(other, one)
    assert difference(other, look).num_rows > DONE


def test_every_question_can_be_asked_of_an_earlier_state(on_delta: Made) -> None:
    at = on_delta.maker.at
    then = on_delta.inspector.as_of(at(-99))
    assert (then.moment().at, then.moment().exact) == (at(-100), True)
    counted = {row["topic"]: row["pending"] for row in pending_by_topic(then).to_pylist()}
    assert counted == {"orders": 121, "reminders": 120, "no-such-topic": 3}
    assert [row["status"] for row in history(then, MOVED).to_pylist()] == ["replaced", "pending"]
    assert throughput(then, at(-120)).num_rows == 0
    assert lateness(then, at(-120)).count == 0
    assert then.stats(at(-99)).ledger.ends[Status.CANCELLED] == 1
    ahead = due_counts(then, at(-99), at(-99) + 180 * MINUTE)
    assert sum(ahead.column("waiting").to_pylist()) == 243  # the moved one is due later
