"""The state as known at an instant, from the versions of the Delta tables."""

import random

import pytest
from build import at, every, outcome, put, receipt, tick
from deltalake import DeltaTable

from state.errors import StateError
from state.inspect import Filter
from state.open import open_inspector, open_store
from state.settings import StateSettings

EVERYTHING = Filter(kind=None)
ORDER = [("source_offset", "ascending"), ("occurrence", "ascending")]


@pytest.fixture
def settings(tmp_path):
    return StateSettings.model_validate({"delta": {"path": str(tmp_path / "state")}})


def said(dice, batch, store):
    """Commands for some keys, and an end for all that is claimed."""
    keys = dice.sample([b"a", b"b", b"c", b"d"], 2)
    commands = [
        put(
            key,
            batch * 10 + place,
            due=batch + dice.choice([2, 50, 1_000_000]),
            policy=every(3, first=batch + 2, count=5) if dice.random() < 0.3 else None,
        )
        for place, key in enumerate(keys)
    ]
    ends = [
        outcome(r["key"], r["source_offset"], "done", occurrence=r["occurrence"], **receipt())
        for r in store.unsettled().to_pylist()
    ]
    return {"commands": commands, "outcomes": ends, "until": batch}


def answers(inspector):
    rows = inspector.rows(EVERYTHING)
    return rows.sort_by(ORDER).to_pylist(), inspector.stats(at(0)).ledger


def lives(settings, batches, fold_after):
    """Let a state go through some batches, ten seconds apart; return what was seen after each."""
    dice, store, inspector = random.Random(7), open_store(settings), open_inspector(settings)
    seen = {}
    for batch in range(batches):
        store.commit(tick(batch, now=batch * 10, **said(dice, batch, store)))
        seen[batch * 10] = answers(inspector)
        if batch in fold_after:
            store.fold(at(batch * 10))
    store.close()
    return seen


def test_every_commit_can_be_seen_again_whatever_was_folded_since(settings):
    seen = lives(settings, 16, fold_after={4, 9, 10})
    now = open_inspector(settings)
    for seconds, expected in seen.items():
        then = now.as_of(at(seconds + 3))
        assert (then.moment().at, then.moment().exact) == (at(seconds), True)
        assert answers(then) == expected
        assert sum(part.num_rows for part in then.scan(EVERYTHING, ["due"])) == len(expected[0])
    assert now.as_of(at(-5)).rows(EVERYTHING).num_rows == 0


def test_where_the_changelog_is_gone_the_last_fold_answers_and_says_so(settings):
    seen = lives(settings, 6, fold_after={3})
    changelog = DeltaTable(f"{settings.delta.path}/changelog")
    changelog.vacuum(0, dry_run=False, enforce_retention_duration=False)
    schedules = DeltaTable(f"{settings.delta.path}/schedules")
    fold = schedules.history()[0]["timestamp"] * 1_000
    inspector = open_inspector(settings)
    then = inspector.as_of(fold + 1)
    assert (then.moment().at, then.moment().exact) == (fold, False)
    assert answers(then) == seen[20]  # the newest batch at the time is never folded
    with pytest.raises(StateError, match=r"do not reach back that far.*state.delta.vacuum_age"):
        inspector.as_of(-1)
