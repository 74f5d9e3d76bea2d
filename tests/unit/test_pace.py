"""How many rows a commit on MongoDB claims, and how soon it begins."""

import pytest

from state.claims import Room
from state.mongo.ahead import Ahead, Window
from state.mongo.pace import Pace
from state.row import PARKED

SECOND = 1_000_000


def measured(*commits: tuple[float, int, int]) -> Pace:
    """Return a pace after commits of so many seconds, changes and claims."""
    pace = Pace()
    for seconds, changed, claimed in commits:
        pace.took(seconds, changed, claimed, room=claimed)
    return pace


def test_before_anything_is_measured_a_part_is_small() -> None:
    assert measured().part(0) == 3_000


def test_a_part_is_what_is_claimed_in_a_second_and_a_half() -> None:
    assert measured(*[(2.0, 10_000, 10_000)] * 5).part(0) == 7_500
    assert measured(*[(2.0, 10_000, 5_000)] * 5).part(0) == 7_500
    assert measured(*[(0.1, 1_000, 1_000)] * 5).part(0) == 15_000


def test_a_part_is_a_thousand_rows_at_least_and_no_less_than_comes_in() -> None:
    slow = measured(*[(10.0, 1_000, 1_000)] * 5)
    assert slow.part(0) == 1_000
    assert slow.part(50_000) == 50_000


def test_parts_grow_while_what_is_due_does_not_become_less() -> None:
    pace = measured(*[(2.0, 10_000, 10_000)] * 5)
    parts = []
    for _ in range(5):
        pace.follow(overdue=True)
        parts.append(pace.part(0))
    assert parts == [15_000, 30_000, 60_000, 60_000, 60_000]
    pace.follow(overdue=False)
    assert pace.part(0) == 7_500
    pace.follow(overdue=True)
    pace.took(0.1, 100, 100, room=101)  # there was no more
    pace.follow(overdue=True)
    assert pace.part(0) == 7_500
    pace.took(0.1, 100, 0, room=0)  # nor could there be
    pace.follow(overdue=True)
    assert pace.part(0) == 7_500


def test_one_commit_that_hangs_does_not_count() -> None:
    usual = [(2.0, 10_000, 10_000)] * 4
    assert measured(*usual, (60.0, 10_000, 10_000)).part(0) == 7_500


def test_a_commit_with_few_claims_tells_nothing() -> None:
    assert measured(*[(2.0, 10_000, 199)] * 9).part(0) == measured().part(0)


def test_the_more_rows_the_sooner_it_begins() -> None:
    pace = measured(*[(2.0, 10_000, 10_000)] * 5)
    assert pace.lead(10_000) == 7 * SECOND
    assert pace.lead(40_000) == 22 * SECOND


@pytest.mark.parametrize(
    ("lanes", "most", "wanted"),
    [
        ((9, 9), 100, (9, 9)),
        ((9, 9), 6, (3, 3)),
        ((9, 0), 6, (6, 0)),
        ((9, 1, 9), 7, (3, 1, 3)),
        ((9, 9, 9), 10, (3, 3, 4)),
    ],
)
def test_a_part_is_shared_out_among_the_lanes(lanes, most, wanted) -> None:
    room = Room(lanes, 5, {"slow": 2})
    assert room.at_most(most) == Room(wanted, 5, {"slow": 2})


def test_of_a_part_half_is_for_what_has_no_quota() -> None:
    room = Room((100,), 5, {"slow": 90, "slower": 1, "slowest": 0})
    assert room.at_most(60).quotas == {"slow": 10, "slower": 1, "slowest": 0}
    assert room.at_most(100) == room


class Rows:
    """Pending rows, by their due in seconds; keys that are read are counted."""

    def __init__(self, dues: list[float], per_row: float = 0.0002) -> None:
        self.dues = sorted(dues)
        self.now = self.sight = 0.0
        self.ahead = Ahead()
        self.read = 0
        self._goes_on = False
        self._pace = measured(*[(per_row * 10_000, 10_000, 10_000)] * 5)

    def put(self, dues: list[float]) -> None:
        self.dues = sorted([*self.dues, *dues])
        self.ahead.added(len(dues))

    def claim(self, count: int) -> None:
        self._goes_on = len(self.dues) >= count
        del self.dues[:count]

    def presses(self, farthest: float = 30.0, until: float = 4.0) -> bool:
        window = Window(*(int((self.now + n) * SECOND) for n in (0, until, farthest)))
        self.sight = window.sight / SECOND
        least = int(self.dues[0] * SECOND) if self.dues else PARKED
        self.until = self.ahead.until(window, least, self._goes_on, self._pace.lead, self._look)
        assert window.until <= self.until <= max(window.until, window.farthest)
        return self.until > max(window.until, least - 1)

    def _look(self, count: int) -> int:
        seen = [due for due in self.dues if self.now < due < self.sight][:count]
        self.read += len(seen)
        return int((seen[-1] if len(seen) == count else self.sight) * SECOND)


def burst(count: int, due: float) -> list[float]:
    return [due + n / count for n in range(count)]


def test_a_burst_begins_early_enough_for_all_of_it_and_not_at_once() -> None:
    rows = Rows(burst(50_000, due=100.0))
    while not rows.presses():
        rows.now += 1
    begun = rows.now
    assert 100 - 30 <= begun <= 100 - 50_000 * 0.0002 * 1.25


def test_nothing_is_claimed_early_that_can_wait_for_its_time() -> None:
    rows = Rows(burst(1_000, due=20.0))
    for now in range(16):
        rows.now = now
        assert not rows.presses()


def test_nothing_is_looked_up_while_all_is_farther_away_than_it_may_claim() -> None:
    rows = Rows(burst(100_000, due=100.0))
    assert not rows.presses()
    assert rows.read == 0


def test_where_the_clock_stepped_back_nothing_presses() -> None:
    rows = Rows(burst(100_000, due=0.5))
    assert not rows.presses(farthest=0.2, until=0.2)
    assert rows.presses(farthest=1.0, until=0.2)


def test_what_is_begun_is_done_to_its_end_and_what_is_left_can_wait() -> None:
    rows = Rows(burst(64_000, due=25.0) + burst(4_000, due=26.1))
    while rows.presses():
        rows.claim(5_000)
    assert 0 < len(rows.dues) <= 4_000


def test_what_was_seen_and_is_claimed_by_now_has_nothing_begun() -> None:
    rows = Rows(burst(32_000, due=25.0))
    assert not rows.presses()
    rows.claim(30_000)
    rows.now = 15.0
    assert not rows.presses()


def test_a_backlog_that_does_not_go_away_hides_no_burst() -> None:
    rows = Rows(burst(64_000, due=25.0))
    assert rows.presses()
    rows.claim(64_001)
    rows.dues = [-60.0]  # this one may not be claimed
    before = rows.until
    rows.now = 10.0
    rows.put(burst(64_000, due=35.0))
    assert rows.presses()
    assert rows.until > before


def test_a_burst_that_is_still_coming_in_is_noticed() -> None:
    rows = Rows([])
    for _ in range(70):
        assert not rows.presses()
        rows.put([25.0] * 500)
    for _ in range(130):
        rows.put([25.0] * 500)
        rows.presses()
    assert rows.presses()


def test_a_steady_stream_is_never_claimed_early_and_looks_are_few() -> None:
    rows = Rows([n / 1_000 for n in range(4_000, 30_000)])
    ticks = 200
    for n in range(ticks):
        rows.now = n / 2
        assert not rows.presses()
        rows.put([30 + (n + part / 500) / 2 for part in range(500)])
        rows.claim(500)
    assert rows.read / ticks < 8 * 500  # eight keys for each row that comes in


def test_a_few_rows_that_wait_are_looked_at_once() -> None:
    rows = Rows([5.0, 6.0, 7.0])
    for now in range(4):
        rows.now = now / 2
        assert not rows.presses()
    assert rows.read <= 3 * 10
    before = rows.read
    rows.now = 2.5
    assert not rows.presses()
    assert rows.read == before
