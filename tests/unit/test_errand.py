"""What a task publishes of the rows it is given: nothing that is out, nothing that is due later."""

from pipeline.outbox.connection import Connection
from pipeline.outbox.errand import Errand, Means, clock_from, pack, publish_all, run_errand, unpack
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import Marker
from pipeline.outbox.publisher import Published
from pipeline.outbox.records import Shape
from pipeline.outbox.retry import RetryRules
from pipeline.outbox.signature import Loan
from tests.integration.rows import claimed

HELD = ("in", 0, 77, 0)


class Lane:
    """Takes every flush."""

    def __init__(self) -> None:
        self.flushes: list[Flush] = []

    def open(self) -> None:
        """Not asked for."""

    def publish(self, flush: Flush) -> Published:
        self.flushes.append(flush)
        return Published(1, [(0, 0)] * len(flush.items), {})

    def close(self) -> None:
        """Not asked for."""


def published(dues: list[int], marker: Marker, upto: int, held: int) -> list[Flush]:
    rows = claimed(
        key=[b"%d" % due for due in dues],
        due=dues,
        claim=[1 + (due > 100) for due in dues],
        occurrence=[0] * len(dues),
        output_topic=["out"] * len(dues),
    )
    errand = Errand(0, 1, 2, upto, [(held, HELD)], 0, Loan("run", 0), pack(rows))
    lane, heard = Lane(), []
    publish_all(errand, unpack(errand.rows), marker, lane, lambda *said: heard.append(said[0]))
    assert heard == lane.flushes
    return lane.flushes


def dues_of(flushes: list[Flush]) -> list[list[int]]:
    return [[item.due for item in flush.items] for flush in flushes]


def test_what_the_marker_covers_is_left_out() -> None:
    flushes = published([10, 90, 50, 110], Marker(1, 50, 1), upto=200, held=300)
    assert dues_of(flushes) == [[90, 110]]
    assert flushes[0].marker == Marker(2, 200, 1)


def test_what_the_marker_names_is_not_out() -> None:
    assert dues_of(published([10, 50], Marker(1, 50, 1, (("in", 0, 1, 0),)), 200, 300)) == [[50]]


def test_what_a_later_batch_claimed_is_not_out_whatever_its_instant() -> None:
    """Batch 2 has claimed what is due at 110, after the marker of batch 1 had come to 150."""
    assert dues_of(published([90, 110], Marker(1, 150, 1), upto=200, held=300)) == [[110]]


def test_the_marker_never_passes_the_instant_and_names_what_the_driver_holds() -> None:
    (flush,) = published([90, 110, 250], Marker(0, -1, 1), upto=200, held=95)
    assert dues_of([flush]) == [[90, 110]]
    assert flush.marker == Marker(2, 200, 1, (HELD,))


def test_whatever_goes_wrong_is_told_and_does_not_fail_the_task() -> None:
    """It would take the receipts of all other lanes with it."""
    means = Means(Connection("s", {"no.such": 1}, {}, 2.0), Shape(*"dim", False, "s"), RetryRules())
    done = run_errand(means, Errand(0, 1, 2, 9, [], 0, Loan("run", 0), b"not Arrow"))
    assert done.trouble is not None
    assert (len(done.out[0]), done.flushes) == (0, [])


def test_the_time_is_the_drivers() -> None:
    clock = clock_from(5)
    assert 5 <= clock() <= clock() < 10**9
