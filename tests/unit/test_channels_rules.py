"""The rules of channels, without Kafka: what a record does to the board and to the jobs."""

import random
from dataclasses import replace
from typing import Any

import pytest

from pipeline.admin.channels.asked import go_duration
from pipeline.admin.channels.board import SLACK, Board, Event, Name
from pipeline.admin.channels.job_table import Job, JobTable, Stage
from pipeline.admin.channels.written import Deed, Entry, due_payload, job_json, read_due, read_job

NAME = Name("c", "e")
END = 1_000
JOB = Job("1", "c", "n", "d", "@hourly", 7, Stage.DEFINED, since=3)


def shown(board: Board, now: int = 0) -> list[tuple[str, bool]]:
    return [(event.name.event, locked) for event, locked in board.events("c", now)]


def board_with_event() -> Board:
    board = Board()
    board.publish(Event(NAME, "d", 0, END), 0)
    return board


def test_a_lock_that_is_read_before_its_event_counts() -> None:
    board = Board()
    assert board.lock(NAME, 10, 500, END)
    board.publish(Event(NAME, "d", 0, END), 20)

    assert shown(board, 20) == [("e", True)]
    assert shown(board, 500) == [("e", False)]


def test_a_delete_that_is_read_before_its_event_counts() -> None:
    board = Board()
    assert board.delete(NAME, 10, END)
    board.publish(Event(NAME, "d", 0, END), 20)

    assert shown(board) == []


def test_the_first_lock_counts_until_its_end() -> None:
    board = board_with_event()
    assert board.lock(NAME, 10, 100, END)
    assert not board.lock(NAME, 99, 500, END)
    assert board.lock(NAME, 100, 500, END)


def test_nothing_can_be_done_to_what_is_over() -> None:
    board = board_with_event()
    assert not board.lock(NAME, END, END + 10, END)
    assert not board.unlock(NAME, END, END)
    assert not board.delete(NAME, END, END)
    assert board.event(NAME, END) is None


def test_an_event_published_twice_is_there_once() -> None:
    board = board_with_event()
    board.publish(Event(NAME, "d", 5, END + 5), 5)

    assert board.size == 1
    assert shown(board, END) == []


def test_what_is_over_is_forgotten_and_nothing_else() -> None:
    board = board_with_event()
    board.lock(NAME, 10, 2 * END, END)
    board.publish(Event(Name("c", "longer"), "d", 0, 10 * END), 0)
    board.forget(END)

    assert board.size == 1
    assert not board.lock(NAME, END - 1, END, END)  # by the brokers' clock it is not over
    board.forget(2 * END + SLACK)
    assert board.size == 0
    assert vars(board) == vars(Board())


def test_what_was_deleted_stays_so_for_as_long_as_its_event_may_be_read() -> None:
    board = board_with_event()
    board.delete(NAME, 10, END)
    board.forget(END - 1)
    board.publish(Event(NAME, "d", 0, END), 11)

    assert board.size == 0


def test_the_first_definition_of_a_name_counts() -> None:
    jobs = JobTable()
    assert jobs.take(JOB)
    assert not jobs.take(replace(JOB, id="2"))
    assert jobs.needless == {"2"}

    assert jobs.take(replace(JOB, stage=Stage.ENDING))
    assert not jobs.take(replace(JOB, stage=Stage.ENDING))
    assert jobs.take(replace(JOB, id="3"))
    jobs.remove("1")
    assert [job.id for job in jobs.of("c")] == ["3"]


def test_one_that_lost_does_not_win_when_the_first_record_is_compacted_away() -> None:
    jobs = JobTable()
    jobs.take(replace(JOB, id="lost"))
    jobs.take(replace(JOB, id="won", stage=Stage.ARMED))

    assert [job.id for job in jobs.of("c")] == ["won"]
    assert jobs.needless == {"lost"}


def test_a_job_that_is_armed_too_late_stays_deleted() -> None:
    jobs = JobTable()
    jobs.take(JOB)
    jobs.take(replace(JOB, stage=Stage.ENDING))
    assert not jobs.take(replace(JOB, stage=Stage.ARMED))
    jobs.remove("1")
    assert not jobs.take(replace(JOB, stage=Stage.ARMED))

    assert jobs.of("c") == []
    assert jobs.needless == {"1"}


def test_an_ending_that_is_all_there_is_left_is_finished() -> None:
    jobs = JobTable()
    assert not jobs.take(replace(JOB, stage=Stage.ENDING))
    assert [job.id for job in jobs.unfinished()] == ["1"]
    assert jobs.named("c", "n") is None


def test_however_a_log_is_compacted_the_same_jobs_are_there() -> None:
    generator = random.Random(7)
    for _ in range(300):
        log = _some_log(generator)
        last = {job_id: place for place, (job_id, _) in enumerate(log)}
        cleaned = generator.randrange(len(log) + 1)
        kept = [r for n, r in enumerate(log) if n >= cleaned or last[r[0]] == n]
        assert _read(kept) == _read(log)


def _some_log(generator: random.Random) -> list[tuple[str, Job | None]]:
    """Write a log as processes do: what counts is armed at once, what lost is cleared at once."""
    jobs, log = JobTable(), list[tuple[str, Job | None]]()
    for number in range(generator.randrange(1, 12)):
        named = jobs.named("c", generator.choice("ab"))
        if named is not None and generator.random() < 0.5:
            steps: list[Job | None] = [replace(named, stage=Stage.ENDING), None]
            job_id = named.id
        else:
            job = replace(JOB, id=(job_id := str(number)), name=generator.choice("ab"))
            won = jobs.named("c", job.name) is None
            steps = [job, replace(job, stage=Stage.ARMED) if won else None]
        for step in steps:
            log.append((job_id, step))
            _take(jobs, job_id, step)
    return log


def _read(log: list[tuple[str, Job | None]]) -> list[Job]:
    jobs = JobTable()
    for job_id, job in log:
        _take(jobs, job_id, job)
    return jobs.of("c")


def _take(jobs: JobTable, job_id: str, job: Job | None) -> None:
    if job is None:
        jobs.remove(job_id)
    else:
        jobs.take(job)


def test_what_is_written_reads_back() -> None:
    entry = Entry(Deed.LOCK, "ü", "e", ttl=5, until=9)
    assert Entry.from_json(entry.to_json()) == entry
    assert read_job("1", job_json(JOB), 3) == JOB
    event, job = read_due(due_payload("c", 5, "d", event="e"), {}, 10, "t-0-1")
    assert (event, job) == (Event(NAME, "d", 10, 15), "")


@pytest.mark.parametrize("value", [b"", b"[]", b"{}", b'{"deed":"eat"}', b'{"stage":"lost"}'])
def test_what_is_not_ours_is_told_from_what_is(value: bytes) -> None:
    readers: list[Any] = [
        lambda: Entry.from_json(value),
        lambda: read_job("1", value, 0),
        lambda: read_due(value, {}, 0, "t-0-1"),
    ]
    for reader in readers:
        with pytest.raises(ValueError, match=r".*"):
            reader()


def test_events_of_a_job_have_ids_of_their_own_and_the_same_when_sent_twice() -> None:
    def event_id(place: str, **headers: bytes) -> str:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return read_due(due_payload("c", 5, "d", job="j"), named, 10, place)[0].name.event

    assert event_id("t-0-1") != event_id("t-0-2")
    assert event_id("t-0-1") == event_id("t-0-1")
    twice = {"duestream_fire_id": b"f"}
    assert event_id("t-0-1", **twice) == event_id("t-0-2", **twice)


@pytest.mark.parametrize(
    ("text", "micros"),
    [("1h30m10s", 5_410_000_000), ("1.5h", 5_400_000_000), (".5s", 500_000), ("1.s", 1_000_000),
     ("1500ns", 2), ("+2m", 120_000_000)],
)  # fmt: skip
def test_a_duration_is_read_as_go_does(text: str, micros: int) -> None:
    assert go_duration(text) == micros
