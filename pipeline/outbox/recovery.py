"""What a start finds: how far each lane came, and so which claims are out and which are not."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from pipeline.outbox.item import Item, items_by_lane
from pipeline.outbox.lane import Flush
from pipeline.outbox.marker import NOTHING_OUT, Marker
from pipeline.outbox.publisher import Publisher
from pipeline.outbox.report import closed_unseen, ended
from state.crashpoint import Point, reach
from state.errors import KafkaError, StateError
from state.row import Status
from state.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recovered:
    """Lanes ready to publish, and the claims an earlier run left."""

    publishers: list[Publisher]
    watermarks: list[int]
    waiting: pa.Table  # claims that are not out: they go to the outbox
    out: list[Item]  # claims that are out, whose receipts were lost


def recover(make: Callable[[int], Publisher], lanes: int, store: Store, now: int) -> Recovered:
    """Take the lanes over from an earlier run and tell which of its claims are out."""
    publishers, markers = _take_over(make, lanes)
    _refuse_if_set_back(markers, store)
    unsettled = store.unsettled()
    out, waiting = _told_apart(unsettled, markers)
    if len(markers) != lanes:
        log.info("%d lanes instead of %d: claims not yet out are claimed anew", lanes, len(markers))
        # Also those that will be no more: an earlier run that wakes up must not go on with them.
        for publisher, marker in zip(publishers, markers, strict=False):
            _signed(publisher, marker, store, len(markers))
        # In one commit, before the old markers go: they are all that tells the two apart.
        settled = [closed_unseen(out), ended(waiting, Status.PENDING)]
        store.settle(pa.concat_tables(settled), now)
        out, waiting = [], []
        markers = [None] * lanes
    publishers = _keep(publishers, lanes)
    for number in reversed(range(lanes)):  # lane 0 last: its marker tells how many lanes there are
        markers[number] = _signed(publishers[number], markers[number], store, lanes)
    return Recovered(
        publishers,
        [marker.watermark for marker in markers if marker],
        unsettled.take(pa.array([item.index for item in waiting], pa.int64())),
        out,
    )


def begin_unmarked(make: Callable[[int], Publisher], lanes: int, store: Store) -> Recovered:
    """Start without markers: every claim that was not settled goes out (again)."""
    publishers = [make(number) for number in range(lanes)]
    return Recovered(publishers, [NOTHING_OUT] * lanes, store.unsettled(), [])


def _take_over(
    make: Callable[[int], Publisher], lanes: int
) -> tuple[list[Publisher], list[Marker | None]]:
    """Open every lane there was and will be; return the markers of those there were."""
    publishers = [make(0)]
    first = publishers[0].open()
    reach(Point.DURING_RECOVERY)
    there_were = first.lanes if first else lanes
    publishers += [make(number) for number in range(1, max(lanes, there_were))]
    markers = [first, *(publisher.open() for publisher in publishers[1:])]
    return publishers, markers[:there_were]


def _told_apart(unsettled: pa.Table, markers: list[Marker | None]) -> tuple[list[Item], list[Item]]:
    """Return the claims that are out and those that are not."""
    out: list[Item] = []
    waiting: list[Item] = []
    for lane, item in items_by_lane(unsettled, len(markers)):
        marker = markers[lane]
        if marker is None:
            raise KafkaError(_lost(lane, unsettled.num_rows))
        (out if item.is_covered(marker) else waiting).append(item)
    return out, waiting


def _refuse_if_set_back(markers: list[Marker | None], store: Store) -> None:
    """Raise when Kafka has seen a batch that the state does not know."""
    newest = max((marker.batch for marker in markers if marker), default=-1)
    if newest > store.last_batch:
        raise StateError(
            f"messages of batch {newest} are out, but the state ends with batch "
            f"{store.last_batch}: it was set back, and what it took since is not in it. Nothing "
            "was published. Bring the newest state back; or, to go on from this one with messages "
            "of that time going out twice, delete the markers topic (internal.topic with .markers) "
            "and start once with publish.guarantee: at_least_once"
        )


def _signed(publisher: Publisher, found: Marker | None, store: Store, lanes: int) -> Marker:
    """Write the marker a lane goes on with, before anything is claimed for it.

    A lane that had none gets its first; from then on a missing marker means a lost one. One that
    had is signed by this run: an earlier one that wakes up sees that the lane is no longer its own.
    """
    marker = found or Marker(store.last_batch, NOTHING_OUT, lanes)
    publisher.publish(Flush([], marker))
    return marker


def _keep(publishers: list[Publisher], lanes: int) -> list[Publisher]:
    for publisher in publishers[lanes:]:
        publisher.close()
    return publishers[:lanes]


def _lost(lane: int, claims: int) -> str:
    return (
        f"{claims} messages were claimed for publishing but lane {lane} has no marker on Kafka, so "
        "nobody can tell which are out (another cluster, another name or internal.topic, or the "
        "markers topic was deleted). Nothing was published. Go back to those the state was used "
        "with; or set publish.guarantee: at_least_once for one start, which publishes all of them"
    )
