"""How far ahead a batch claims."""

from pipeline.horizon import Horizon

SECOND = 1_000_000


def test_it_follows_the_longest_recent_tick_within_its_bounds() -> None:
    horizon = Horizon(least=1 * SECOND, most=10 * SECOND)
    assert horizon.until(0) == 1 * SECOND
    horizon.handed_over(0, 1 * SECOND)
    horizon.handed_over(1 * SECOND, 2 * SECOND)  # two seconds from one batch's time to the next
    assert horizon.until(2 * SECOND) == 5 * SECOND
    horizon.handed_over(2 * SECOND, 100 * SECOND)
    assert horizon.until(100 * SECOND) == 110 * SECOND


def test_it_never_claims_less_than_before() -> None:
    horizon = Horizon(least=0, most=100 * SECOND)
    horizon.handed_over(0, 0)
    horizon.handed_over(0, 40 * SECOND)
    furthest = horizon.until(40 * SECOND)
    for n in range(30):  # quick ticks: the slow one is forgotten
        horizon.handed_over((41 + n) * SECOND, (41 + n) * SECOND + 1)
    assert horizon.until(71 * SECOND) == furthest == 100 * SECOND


def test_a_clock_that_was_far_ahead_does_not_make_it_claim_far_ahead_for_ever() -> None:
    horizon = Horizon(least=1 * SECOND, most=10 * SECOND)
    horizon.until(3600 * SECOND)
    assert horizon.until(0) == 10 * SECOND
