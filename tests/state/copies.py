"""Copies of states between stores: how to make them, and all that a state answers."""

from build import at, names, outcome, put, receipt, tick

from state.copying import copy, figures
from state.inspect import Filter
from state.open import open_inspector, open_source, open_store, open_target
from state.settings import DeltaSettings, StateSettings

EVERYTHING = Filter(kind=None)
NOW = at(50)


def in_delta(path):
    return StateSettings(kind="delta", delta=DeltaSettings(path=str(path)))


def copied(there, here):
    """Copy, and return the figures that differ."""
    source, target = open_source(there), open_target(here, NOW)
    copy(source, target, NOW, lambda done, total: None)
    after = open_source(here)
    found = figures(source, after)
    for each in (source, target, after):
        each.close()
    return [figure for figure in found if figure.source != figure.target]


def rows(table):
    order = ["source_topic", "source_partition", "source_offset", "occurrence"]
    return table.sort_by([(name, "ascending") for name in order]).to_pylist()


def told(settings, now=12):
    """Return all that a state answers, whatever keeps it."""
    inspector, store = open_inspector(settings), open_store(settings)
    answers = (
        rows(inspector.rows(EVERYTHING)),
        inspector.stats(at(now)),
        rows(store.unsettled()),
        store.last_batch,
        store.paused,
        store.state_id,
        [rows(store.claims_of(batch)) for batch in range(7)],
        [names(store.commit(tick(batch))) for batch in (0, 5, 6)],
    )
    store.close()
    return answers


def many(settings, count=45):
    """Return a state with enough rows for some parts, two versions of each key."""
    store = open_store(settings)
    keys = [b"%d" % n for n in range(count)]
    store.commit(tick(0, commands=[put(key, n, due=n) for n, key in enumerate(keys)], until=9))
    newer = [put(key, 100 + n, due=100 + n) for n, key in enumerate(keys)]
    store.commit(tick(1, 1, newer, [outcome(b"3", 3, "done", **receipt())]))
    store.close()
