from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from state.rules.fold import Event, Held, fold_same_key, hold
from state.rules.policy import Policy
from state.rules.same_key import Ignored, SameKey, SamePolicy, Standing
from state.version import Version

REPLACE = SameKey()
KEEP = SameKey(SamePolicy.KEEP)

same_keys = st.sampled_from(
    [
        REPLACE,
        KEEP,
        SameKey(SamePolicy.IGNORE_DUPLICATE),
        SameKey(SamePolicy.IGNORE_DUPLICATE, "$.t"),
        SameKey(SamePolicy.IGNORE_SMALL_CHANGE, "$.t", "2"),
        SameKey(SamePolicy.IGNORE_SMALL_CHANGE, "$.t", "50%"),
        SameKey(SamePolicy.SETTLE, settle_for=10, settle_max=25),
        SameKey(SamePolicy.DEBOUNCE, settle_for=10),
        SameKey(SamePolicy.THROTTLE, settle_for=10),
    ]
)


def event(offset, at, same=None, value=0, partition=0):
    version = Version("in", partition, offset, at)
    if same is None:
        return Event(version, None)
    compare = str(value) if "ignore" in same.policy else None
    return Event(version, Standing(at + 100, Policy(same=same, compare=compare)))


@st.composite
def runs(draw, partitions=3, cancels=True):
    policies = st.one_of(st.none(), same_keys) if cancels else same_keys
    drawn = draw(
        st.lists(
            st.tuples(
                st.integers(0, partitions - 1), st.integers(0, 30), policies, st.integers(0, 6)
            ),
            min_size=1,
            max_size=15,
        )
    )
    offsets = [0] * partitions
    run = []
    for partition, at, same, value in drawn:
        run.append(event(offsets[partition], at, same, value, partition))
        offsets[partition] += 1
    return run


@dataclass
class Sum:
    """What the folds of a run came to together."""

    held: Held = field(default_factory=Held)
    ends: list = field(default_factory=lambda: [[], [], [], []])

    def add(self, events):
        folded = fold_same_key(self.held, events)
        self.held = Held(from_row(folded.survivor), folded.held.newest, folded.held.read)
        parts = (folded.ignored, folded.superseded, folded.withdrawn, folded.idle)
        for known, more in zip(self.ends, parts, strict=True):
            known.extend(more)
        return self


def from_row(pending):
    """Return the pending event as its row says it: its coordinates, its due, its policy's text."""
    if pending is None:
        return None
    text = pending.standing.policy.to_json()
    return Event(pending.version, Standing(pending.standing.due, Policy.from_json(text)))


@st.composite
def repeated(draw, run):
    """Let some records come again, each somewhere after it came first."""
    again = list(run)
    for record in draw(st.lists(st.sampled_from(run), max_size=6)):
        again.insert(draw(st.integers(again.index(record) + 1, len(again))), record)
    return again


@st.composite
def cut(draw, run):
    places = sorted(draw(st.lists(st.integers(0, len(run)), max_size=5)))
    return [run[a:b] for a, b in zip([0, *places], [*places, len(run)], strict=True)]


@settings(max_examples=400)
@given(st.data(), runs())
def test_neither_cuts_nor_records_that_come_again_change_what_becomes_of_a_run(data, run):
    at_once = Sum().add(run)
    in_parts = Sum()
    for part in data.draw(cut(data.draw(repeated(run)))):
        in_parts.add(part)
    assert in_parts == at_once


@settings(max_examples=200)
@given(st.data(), runs(partitions=1, cancels=False))
def test_on_one_partition_the_row_of_the_pending_event_is_enough_to_go_on(data, run):
    at_once = fold_same_key(Held(), run).survivor
    pending = None
    for part in data.draw(cut(data.draw(repeated(run)))):
        pending = from_row(fold_same_key(hold(pending), part).survivor)
    assert pending == at_once


@given(runs())
def test_every_record_has_one_end_or_is_pending(run):
    folded = fold_same_key(Held(), run)
    puts = [e.version for e in run if e.standing is not None]
    ended = [v for v, _ in folded.ignored] + folded.superseded + folded.withdrawn
    pending = [folded.survivor.version] if folded.survivor else []
    assert sorted(ended + pending) == sorted(puts)


def test_the_pending_event_is_superseded_by_the_one_that_is_taken():
    folded = fold_same_key(hold(event(0, 1, KEEP)), [event(1, 2, KEEP), event(2, 3, REPLACE)])
    assert folded.ignored == [(Version("in", 0, 1, 2), Ignored.KEPT_FIRST)]
    assert folded.superseded == [Version("in", 0, 0, 1)]
    assert folded.survivor == event(2, 3, REPLACE)


def test_an_event_that_was_ignored_does_not_come_back_after_a_cancel():
    run = [event(0, 1, KEEP), event(1, 2, KEEP), event(2, 3)]
    folded = fold_same_key(Held(), [*run, run[1]])
    assert folded.survivor is None
    assert folded.withdrawn == [Version("in", 0, 0, 1)]


def test_an_older_record_of_another_partition_is_superseded_when_it_comes():
    late = event(7, 1, REPLACE, partition=1)
    folded = fold_same_key(hold(event(0, 2, REPLACE)), [late])
    assert folded.superseded == [late.version]
    assert folded.survivor == event(0, 2, REPLACE)


def test_an_older_record_of_another_partition_does_not_undo_a_cancel():
    late = event(7, 3, REPLACE, partition=1)
    folded = fold_same_key(hold(event(0, 2, REPLACE)), [event(1, 4), late])
    assert folded.survivor is None
    assert folded.superseded == [late.version]


def test_a_cancel_that_finds_nothing_is_told():
    folded = fold_same_key(Held(), [event(0, 1)])
    assert folded.idle == [Version("in", 0, 0, 1)]
