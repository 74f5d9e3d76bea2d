"""Rows that were parked before a fold come back when their topic is resumed, not a fold later."""

from build import at, identity_of, put, tick

from state.open import open_store
from state.pausing import Paused
from state.settings import DeltaSettings, StateSettings


def test_a_row_parked_before_a_fold_is_claimed_when_its_topic_goes_on(tmp_path):
    store = open_store(StateSettings(delta=DeltaSettings(path=str(tmp_path / "state"))))
    store.commit(tick(0, commands=[put(b"a", 0, due=5)], until=0))
    store.pending([identity_of(b"a")], whole=False)  # from here on keys are kept in memory
    store.commit(tick(1, now=5, until=5, paused=Paused(everything=True)))
    store.commit(tick(2, now=6, until=6, commands=[put(b"z", 1, due=1000)]))
    store.fold(at(7))
    claims = store.commit(tick(3, now=8, until=8, paused=Paused()))
    store.close()
    assert [row["key"] for row in claims.to_pylist()] == [b"a"]
    assert claims["due"].to_pylist() == [at(5)]
