"""The figures of the naive baseline, from what its job tells."""

from bench.naive import _report
from bench.naive_feed import BATCH, WARM

PARTS = {"read": 0.5, "merge": 5.0, "select": 2.0, "publish": 0.5, "mark": 2.5}


def tick(ended: float, published: int = BATCH) -> dict:
    return {"ended": ended, "published": published, **PARTS}


def test_warm_ticks_count_from_end_to_end_and_the_ratio_is_of_the_same_work() -> None:
    cold = [tick(100.0 * (n + 1)) for n in range(WARM)]
    warm = [tick(100.0 * WARM + 12.5 * (n + 1)) for n in range(4)]
    unbounded = [tick(1000.0, 10), tick(1020.0, 50_000), tick(1050.0, 100_000)]
    found = _report(cold + warm, unbounded, ours=[0.05] * 10)
    assert found["ticks"] == 4
    assert found["messages_per_second"] == BATCH / 12.5
    assert found["tick_ms"] == {"p50": 12_500, "p95": 12_500}
    assert found["messages_per_second_of_work"] == BATCH / 10  # without reading from Kafka
    assert found["messages_per_second_unbounded"] == 3_000
    assert round(found["ours_messages_per_second"]) == 20_000
    assert round(found["ratio"]) == 200
