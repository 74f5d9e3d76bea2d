"""What the web process remembers is bounded, and conditions are read as HTTP has them."""

import pytest

from pipeline.admin.conditions import ANYHOW, Condition, Standing
from pipeline.admin.memory import Memory
from pipeline.admin.problems import Problem
from pipeline.admin.replays import Answer, Replays
from pipeline.admin.sent import Sent
from state.errors import KafkaError

SENT = Sent("schedule", "in", 0, 7, b"k")


def test_what_was_used_longest_ago_is_forgotten_first() -> None:
    memory: Memory[str, int] = Memory(2, 1_000)
    memory.put("a", 1)
    memory.put("b", 2)
    memory.get("a")
    memory.put("c", 3)

    assert (memory.get("a"), memory.get("b"), memory.get("c")) == (1, None, 3)


def test_what_is_too_old_is_forgotten() -> None:
    now = 0
    memory: Memory[str, int] = Memory(2, 1_000, lambda: now)
    memory.put("a", 1)
    now = 1_000
    assert memory.get("a") == 1
    now = 1_001
    assert memory.get("a") is None


def test_conditions_hold_or_are_told() -> None:
    pending, nothing = Standing("0-17"), Standing(None)
    assert not ANYHOW.asks
    Condition.of_headers('"0-16", "0-17"', None).check(pending)
    Condition.of_headers("*", None).check(pending)
    Condition.of_headers(None, "*").check(nothing)
    for condition, standing in (
        (Condition.of_headers('"0-16"', None), pending),
        (Condition.of_headers('W/"0-17"', None), pending),
        (Condition.of_headers('"0-17"', None), nothing),
        (Condition.of_headers("*", None), nothing),
        (Condition.of_headers(None, "*"), pending),
    ):
        with pytest.raises(Problem) as told:
            condition.check(standing)
        assert told.value.status == 412


@pytest.mark.parametrize("text", ["", "0-17", '"0-17', '"a" "b"', ","])
def test_a_tag_that_is_none_is_told(text: str) -> None:
    with pytest.raises(Problem, match="if-match"):
        Condition.of_headers(text, None)


def test_an_answer_is_replayed_to_the_same_request_only() -> None:
    replays, answer = Replays(), Answer(202, {}, {})
    replays.of("olga", "k").once("print", lambda: SENT)
    replays.of("olga", "k").answer = answer

    assert replays.of("olga", "k").answered("print") is answer
    assert replays.of("vera", "k").answered("print") is None
    with pytest.raises(Problem, match="another request"):
        replays.of("olga", "k").answered("other")


def test_what_was_sent_is_not_sent_again_though_nothing_was_answered() -> None:
    replay, sent = Replays().of("olga", "k"), []

    def send() -> Sent:
        sent.append(SENT)
        return SENT

    assert replay.once("print", send) == replay.once("print", send) == SENT
    assert sent == [SENT] and replay.answered("print") is None
    with pytest.raises(Problem, match="another request"):
        replay.answered("other")


def test_what_could_not_be_sent_may_be_said_otherwise() -> None:
    replay = Replays().of("olga", "k")

    def fail() -> Sent:
        raise KafkaError("kafka: is away")

    with pytest.raises(KafkaError):
        replay.once("print", fail)
    assert replay.answered("other") is None
