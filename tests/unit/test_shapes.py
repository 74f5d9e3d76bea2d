"""What an output topic's shape does to its messages, and which shape counts."""

import pytest
from flushes import NOW, flush_of

from pipeline.outbox.decision import Decision
from pipeline.outbox.record import Record
from pipeline.outbox.records import Shape
from pipeline.outbox.shapes import OutputShapes, TopicShape
from pipeline.reasons import Reason
from state.row import Kind, Status

ADDS = TopicShape(add=(("team", b"billing"),), strip=frozenset({"secret", "other"}))
HEADERS = [
    {"key": "team", "value": b"old"},
    {"key": "secret", "value": b"s"},
    {"key": "kept", "value": None},
    {"key": "team", "value": b"older"},
]


def shape(*shapes: tuple[str, TopicShape], fire_id: bool = False) -> Shape:
    return Shape("dead", "internal", "markers", fire_id, "state", outputs=OutputShapes(shapes))


def only(shaped: Shape, **columns: list) -> Record:
    (record,) = shaped.messages(flush_of(b"k", **columns), NOW)
    return record


def test_headers_are_stripped_and_added_in_place_of_their_like() -> None:
    record = only(shape(("out", ADDS)), headers=[HEADERS])
    assert record == Record("out", b"k", b"v", [("kept", None), ("team", b"billing")])


def test_what_is_stripped_can_be_added() -> None:
    both = TopicShape(add=(("a", b"1"),), strip=frozenset({"a"}))
    record = only(shape(("out", both)), headers=[[{"key": "a", "value": b"0"}]])
    assert record.headers == [("a", b"1")]


def test_a_null_value_has_the_headers_of_its_topic() -> None:
    record = only(shape(("out", ADDS)), payload=[None])
    assert (record.value, record.headers) == (None, [("team", b"billing")])


@pytest.mark.parametrize(
    ("topic", "found"),
    [("orders", "first"), ("orders.eu", "second"), ("order", "third"), ("ordersx", None)],
)
def test_the_first_pattern_that_matches_counts(topic: str, found: str | None) -> None:
    shapes = OutputShapes(
        (pattern, TopicShape(add=((name, b""),)))
        for pattern, name in [
            ("orders", "first"),
            ("orders.*", "second"),
            ("ord?r", "third"),
            ("ord??.*", "never"),
        ]
    )
    for _ in range(2):  # found, and remembered
        known = shapes.of(topic)
        assert (known.add[0][0] if known else None) == found


def test_a_topic_without_a_shape_is_left_alone_beside_one_that_has_one() -> None:
    flush = flush_of(b"a", b"b", output_topic=["out", "bare"], headers=[HEADERS, HEADERS])
    first, second = shape(("out", ADDS)).messages(flush, NOW)
    assert len(first.headers) == 2
    assert second.headers == [(header["key"], header["value"]) for header in HEADERS]


@pytest.mark.parametrize("kind", sorted(set(Kind) - {Kind.MESSAGE}))
@pytest.mark.parametrize("envelope", ["raw", "structured"])
def test_what_nobody_scheduled_has_no_shape(kind: Kind, envelope: str) -> None:
    wrapped = shape(("*", TopicShape(add=(("a", b"1"),), envelope=envelope)))
    record = only(wrapped, kind=[kind], headers=[HEADERS[:1]])
    assert (record.value, record.headers) == (b"v", [("team", b"old")])


def test_letters_and_notes_have_no_shape() -> None:
    wrapped = shape(("*", TopicShape(add=(("a", b"1"),), envelope="structured")))
    (item,) = flush_of(b"k").items
    dead = Decision(Status.DEAD, Reason.UNKNOWN_TOPIC, "no such topic", NOW, [NOW])
    letter, note = wrapped.instead(item, dead, 0, whole=True)
    assert letter.value == b"v"
    assert "a" not in dict(letter.headers)
    assert note.headers is None


@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("here", [True, False, None])
def test_a_shape_may_decide_about_the_fire_id(everywhere: bool, here: bool | None) -> None:
    record = only(shape(("out", TopicShape(fire_id_header=here)), fire_id=everywhere))
    named = everywhere if here is None else here
    assert record.headers == ([("duestream-fire-id", f"in-0-0-{NOW}".encode())] if named else [])


@pytest.mark.parametrize("envelope", ["raw", "binary", "structured"])
@pytest.mark.parametrize(
    ("payload", "content_type"),
    [
        (b"\x01" * 10_000, b"text/plain"),
        (b"\xff" * 10_000, b"text/plain"),
        (b'"' * 10_000, b"text/\x01" * 1_000),
        (b"[" + b"1," * 9_000 + b"1]", b"application/json"),
        (b"", b""),
    ],
)
@pytest.mark.parametrize("key", [b'"' * 1_000, b"\xff" * 1_000, b""])
def test_the_bound_of_a_size_is_one(envelope, payload, content_type, key) -> None:
    topic = "t" * 249
    wrapped = shape(
        ("*", TopicShape(add=(("a" * 99, b"1" * 999),), envelope=envelope)), fire_id=True
    )
    flush = flush_of(
        key,
        output_topic=[topic],
        source_topic=["s" * 249],
        source_offset=[2**63 - 1],
        policy=['{"series":true}'],
        occurrence=[2**31 - 2],
        payload=[payload],
        headers=[[{"key": "content-type", "value": content_type}]],
    )
    (record,) = wrapped.messages(flush, NOW)
    assert record.size <= wrapped.at_most(topic, flush.items[0].chunk.largest)
