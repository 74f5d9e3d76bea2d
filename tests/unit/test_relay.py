"""What the driver gives to executors and takes back, however their tasks end; without Kafka."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from pipeline.outbox.deputies import Deputies
from pipeline.outbox.errand import Done, Errand, publish_all, unpack
from pipeline.outbox.item import Item
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.publisher import Published
from pipeline.outbox.relay import Relay
from pipeline.outbox.report import Flushed, nothing_out, out_of
from pipeline.outbox.signature import Loan
from state import row
from state.admission import HighMarks
from state.version import Version
from tests.integration.rows import claimed

NOW = 1_000_000
LANES = 2


class Died(Exception):
    """A task that is no more."""


@dataclass
class Book:
    """One lane as Kafka would have it: what is out, and the marker."""

    marker: Marker
    out: list[Item] = field(default_factory=list)
    terms: int = 0

    def open(self) -> Marker:
        return self.marker

    def lend(self) -> Loan:
        return Loan("run", self.terms)

    def take_back(self, waits: Callable[[], None]) -> Marker:
        self.terms += 1
        return self.marker

    def publish(self, flush: Flush) -> Published:
        self.out += flush.items
        self.marker = flush.marker
        return Published(NOW, [(0, n) for n in range(len(flush.items))], {})

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass
class Tasks:
    """Runs errands here, each as told: to its end, or dying after so many transactions."""

    books: list[Book]
    lives: Iterator[int | None]  # of each attempt
    attempts: int = 1
    seen: list[Errand] = field(default_factory=list)
    are_able: bool = True
    meanwhile: Callable[[], None] = lambda: None

    def can_carry(self, sizes: object) -> bool:
        return True

    def had_trouble(self) -> None:
        self.are_able = False

    def run(self, errands: list[Errand], count: int) -> list[Done]:
        self.seen += errands
        self.meanwhile()
        try:
            return [self._tried(errand) for errand in errands]
        except Died:
            return []

    def _tried(self, errand: Errand) -> Done:
        for _ in range(self.attempts):
            try:
                return self._run(errand, next(self.lives))
            except Died:
                continue
        raise Died

    def _run(self, errand: Errand, life: int | None) -> Done:
        flushed: list[Flushed] = []
        left = [life]

        def note(flush: Flush, published: Published, began: int) -> None:
            flushed.append((flush.items, published))
            if left[0] is not None:
                left[0] -= 1
                if left[0] <= 0:
                    raise Died

        if life == 0:
            raise Died
        book = self.books[errand.lane]
        publish_all(errand, unpack(errand.rows), book.marker, book, note)
        return Done(errand.lane, [*out_of(flushed)[0][1:]] if flushed else nothing_out())


@dataclass
class House:
    """An outbox whose lanes are lent to such tasks."""

    outbox: Outbox
    books: list[Book]
    tasks: Tasks
    now: list[int]

    def out(self) -> list[bytes]:
        return [item.identity for book in self.books for item in book.out]


@pytest.fixture
def house() -> Iterator[Callable[..., House]]:
    made: list[House] = []

    def make(lives: Iterator[int | None] | None = None, attempts: int = 1, above: int = 3) -> House:
        books = [Book(Marker(0, -1, LANES)) for _ in range(LANES)]
        now = [NOW]
        tasks = Tasks(books, lives or iter(lambda: None, 0), attempts)
        outbox = Outbox(
            books,
            0.0,
            threading.Event(),
            clock=lambda: now[0],
            hold_limit=10 * NOW,
            relay=lambda workers, report: Relay(workers, books, tasks, above, report, lambda: NOW),
        )
        outbox.begin(row.ROW.empty_table(), 0, [-1] * LANES)
        made.append(House(outbox, books, tasks, now))
        return made[-1]

    yield make
    for each in made:
        each.outbox.stop()


def rows(dues: list[int], batch: int = 1, first: int = 0) -> pa.Table:
    numbers = list(range(first, first + len(dues)))
    return claimed(
        key=[b"%d" % n for n in numbers],
        hash=numbers,
        due=dues,
        source_offset=numbers,
        occurrence=[0] * len(dues),
        claim=[batch] * len(dues),
        output_topic=["out"] * len(dues),
    )


def test_few_overdue_messages_stay_with_the_lanes(house: Callable[..., House]) -> None:
    one = house()
    one.outbox.hand_over(1, rows([NOW] * 3))
    one.outbox.drain()
    assert (len(one.out()), one.tasks.seen) == (3, [])


def test_many_are_published_by_tasks_and_later_ones_stay(house: Callable[..., House]) -> None:
    one = house()
    one.outbox.hand_over(1, rows([NOW - 1] * 6 + [NOW + 1] * 2))
    assert sorted(one.out()) == [b"in\x00%d" % n for n in range(6)]
    assert [each.upto for each in one.tasks.seen] == [NOW, NOW]
    assert one.outbox.waiting_by_lane() == [1, 1]
    assert [book.marker for book in one.books] == [Marker(1, NOW, LANES)] * LANES
    assert one.outbox.watermark == NOW
    outcomes = one.outbox.reported()
    assert outcomes[row.STATUS].to_pylist() == ["done"] * 6
    assert outcomes[row.PUBLISHED_OFFSET].null_count == 0
    assert one.outbox.unseen() == []


def test_what_waits_in_the_lanes_goes_along(house: Callable[..., House]) -> None:
    """Held first, so that it waits; by the time of the next batch it is free."""
    one = house()
    one.outbox.saw([(b"in\x000", 0, Version("in", 0, 99, 99))])
    one.outbox.hand_over(1, rows([NOW - 9]))
    assert one.outbox.waiting == 1
    one.outbox.caught_up(read_up_to(99))
    one.outbox.hand_over(2, rows([NOW - 5] * 6, batch=2, first=2))
    one.outbox.drain()
    assert sorted(one.out()) == sorted(b"in\x00%d" % n for n in (0, 2, 3, 4, 5, 6, 7))


def test_what_is_held_stays_and_every_marker_names_it(house: Callable[..., House]) -> None:
    one = house()
    one.outbox.saw([(b"in\x004", 4, Version("in", 0, 99, 99))])
    one.outbox.hand_over(1, rows([NOW - 5] * 8))
    assert sorted(one.out()) == sorted(b"in\x00%d" % n for n in (0, 1, 2, 3, 5, 6, 7))
    assert one.books[0].marker == Marker(1, NOW, LANES, (("in", 0, 4, 0),))
    assert one.outbox.waiting == 1
    one.outbox.caught_up(read_up_to(99))
    one.outbox.drain()
    assert len(one.out()) == len(set(one.out())) == 8


def test_where_all_is_held_no_task_is_sent(house: Callable[..., House]) -> None:
    one = house(above=0)
    one.outbox.saw([(b"in\x000", 0, Version("in", 0, 99, 99))])
    one.outbox.hand_over(1, rows([NOW - 5]))
    assert (one.out(), one.tasks.seen, one.outbox.waiting) == ([], [], 1)
    one.outbox.caught_up(read_up_to(99))
    one.outbox.drain()
    assert one.out() == [b"in\x000"]


def test_tasks_that_get_nothing_done_are_left_alone(house: Callable[..., House]) -> None:
    one = house(iter(lambda: 0, None))
    one.outbox.hand_over(1, rows([NOW] * 8))
    one.outbox.drain()
    assert len(one.out()) == len(set(one.out())) == 8
    one.outbox.hand_over(2, rows([NOW] * 8, batch=2, first=8))
    one.outbox.drain()
    assert (len(one.out()), len(one.tasks.seen)) == (16, 2)


def test_tasks_that_leave_a_lane_undone_are_left_alone_too(house: Callable[..., House]) -> None:
    """All lanes would rest again and again until the one gives up."""
    one = house(iter([None, 0]))
    one.outbox.hand_over(1, rows([NOW] * 8))
    one.outbox.drain()
    assert len(one.out()) == len(set(one.out())) == 8
    assert not one.tasks.are_able


def test_a_lane_that_gives_nothing_away_goes_on_while_tasks_publish(
    house: Callable[..., House],
) -> None:
    """With the claims it was given by the same batch, of which its markers speak."""
    one = house()

    def publish_on_lane_1() -> None:
        one.now[0] = NOW + 1
        one.outbox.lift_holds()  # wakes the lanes up
        wait_for(lambda: one.books[1].out)

    one.tasks.meanwhile = publish_on_lane_1
    one.outbox.hand_over(1, rows([NOW - 1, NOW + 1] * 6))
    assert [each.lane for each in one.tasks.seen] == [0]
    one.outbox.drain()
    assert sorted(one.out()) == sorted(b"in\x00%d" % n for n in range(12))
    assert one.books[1].marker == Marker(1, NOW + 1, LANES)


def wait_for(condition: Callable[[], object]) -> None:
    give_up = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.001)


def test_what_is_too_much_for_the_driver_in_all_is_not_sent() -> None:
    deputies = Deputies(None, None)
    assert deputies.can_carry([40 << 20] * 2)
    assert not deputies.can_carry([40 << 20] * 3)


@pytest.mark.parametrize("seed", range(25))
def test_however_tasks_die_each_message_is_out_once_and_accounted_for(
    house: Callable[..., House], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.outbox.lane.MOST", 20)  # in a transaction
    chance = random.Random(seed)
    lives = iter(lambda: chance.choice([None, None, 1, 1, 2, 3]), "never")
    one = house(lives, attempts=chance.choice([1, 2]))
    first, unseen, done = 0, [], 0
    for batch in range(1, 4):
        count = chance.choice([10, 100])
        dues = [NOW - chance.randrange(5 if batch % 2 else NOW) for _ in range(count)]
        claims = rows([*dues, NOW + 1], batch, first)
        first += count + 1
        held = chance.randrange(count)
        one.outbox.saw([(b"in\x00%d" % (first - held - 2), first - held - 2, _newer())])
        one.tasks.are_able = True
        one.outbox.hand_over(batch, claims)
        one.outbox.caught_up(read_up_to(10**9))
        one.outbox.drain()
        unseen += one.outbox.unseen()
        outcomes = one.outbox.reported()
        assert set(outcomes[row.STATUS].to_pylist()) <= {"done"}
        done += outcomes.num_rows
    out = one.out()
    assert len(out) == len(set(out)) == first - 3  # but for those that are due later
    assert done + len(unseen) == len(out)
    assert one.outbox.waiting == 3


def _newer() -> Version:
    return Version("in", 0, 10**8, 10**8)


def read_up_to(offset: int) -> HighMarks:
    return HighMarks({"in": {"0": offset}})
