"""Any bytes at all, and good records a little spoilt: a command or a reason, of every dialect."""

import base64
import io
import json
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace

import fastavro
import pytest
from drawing import drawn
from foreign_records import (
    DIALECTS,
    ETF1,
    KARAFKA,
    KMS_JSON,
    MONGO,
    Y2030,
    decode_foreign,
    headers_of,
)
from hypothesis import strategies as st
from kafka_records import EVENT, record
from test_avro_schedule import FRAME, GOLDEN, NEW, OLD

from pipeline.reasons import Reason

EACH = 250  # records of a dialect; half as many of no dialect at all
OBJECTS = {
    "cloudevents": EVENT,
    "cloudevents-mongo": MONGO,
    "kms-json": {**KMS_JSON, "headers": {}},
}
HEADERS = {
    "etf1": {**ETF1, "scheduler-target-key": "k"},
    "karafka": {
        **KARAFKA,
        "schedule_target_key": "k",
        "schedule_target_partition": "1",
        "schedule_target_partition_key": "k",
    },
}
NAMES = [name for named in HEADERS.values() for name in named]
NAMES += ["content-type", "ce_specversion", "ce_type", "schedule:expired", ""]
ODD = ["", " ", "-1", "0", "1.5", "1e3", "9" * 25, "\u0661", "\u0000", "NaN", "null", "true", "out"]
ODD += ["2030-01-01", "2030-01-01T00:00:00Z", "2030-13-01T00:00:00Z", "eA", "eA=", "e", "-_", "="]

texts = st.sampled_from(ODD) | st.text(max_size=9)
numbers = st.integers() | st.floats() | st.sampled_from([-1, 0, Y2030, Y2030 * 1000, 10**30])
scalars = st.none() | st.booleans() | numbers | texts
jsons = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=5
)
said_in_headers = st.none() | st.binary(max_size=9) | texts.map(str.encode)
any_headers = st.lists(
    st.tuples(st.sampled_from(NAMES) | st.text(max_size=9), said_in_headers), max_size=6
)
any_key = st.none() | st.just(b"k") | st.binary(max_size=5)


@st.composite
def spoilt(draw: st.DrawFn, values: st.SearchStrategy[bytes]) -> bytes:
    """Draw a value with some bytes changed, taken away or put in."""
    value = draw(values)
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(value)))
        end = draw(st.integers(start, min(start + 3, len(value))))
        value = value[:start] + draw(st.binary(max_size=3)) + value[end:]
    return value


@st.composite
def objects(draw: st.DrawFn, basis: dict[str, object]) -> bytes:
    """Draw a JSON object with some members changed, taken away, put in or doubled."""
    members = list(basis.items())
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(list(basis)) | texts)
        if draw(st.booleans()):
            members = [member for member in members if member[0] != name]
        members.append((name, draw(jsons)))
    if members and draw(st.integers(0, 4)) == 0:
        members.pop(draw(st.integers(0, len(members) - 1)))
    written = ", ".join(f"{json.dumps(name)}: {json.dumps(said)}" for name, said in members)
    return f"{{{written}}}".encode()


@st.composite
def headers(draw: st.DrawFn, basis: dict[str, str]) -> list[tuple[str, bytes | None]]:
    """Draw headers with some changed, taken away or put in, before or behind."""
    given = [(name, said.encode()) for name, said in basis.items()]
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(given) - 1))
        name, kept = given.pop(at)
        if draw(st.booleans()):
            given.insert(at, (name, draw(said_in_headers)))
        else:
            given.insert(at, (name, kept))
            given.insert(draw(st.integers(0, len(given))), (name, draw(said_in_headers)))
    return given + draw(any_headers)


def nearly(dialect: str) -> st.SearchStrategy[tuple]:
    """Draw records of a dialect that are good, or nearly so."""
    topic = st.just(dialect)
    if dialect in HEADERS:
        value = st.none() | st.binary()
        return st.builds(record, value, headers(HEADERS[dialect]), any_key, topic)
    if dialect == "kms-avro":
        golden = st.sampled_from([bytes.fromhex(hexed) for hexed in GOLDEN.values()])
        value = spoilt(golden | golden.map(FRAME.__add__))
    else:
        written = objects(OBJECTS[dialect])
        value = written | spoilt(written)
    return st.builds(record, st.none() | value, st.none() | any_headers, any_key, topic)


anything = st.builds(
    record,
    st.none() | st.binary() | jsons.map(lambda said: json.dumps(said).encode()),
    st.none() | any_headers,
    any_key,
    st.sampled_from(DIALECTS),
    st.integers(0, 9),
)


@pytest.fixture(scope="module")
def sent():
    near = [row for dialect in DIALECTS for row in drawn(nearly(dialect), EACH)]
    return dict(enumerate(near + drawn(anything, EACH // 2)))


@pytest.fixture(scope="module")
def lines(spark, sent):
    return decode_foreign(spark, sent)


def _value(row: tuple) -> bytes | None:
    return None if row[1] is None else bytes(row[1])


def _is_mark(row: tuple) -> bool:
    said = [(value or b"").lower() for name, value in row[2] or [] if name == "schedule:expired"]
    return row[3].startswith("kms") and row[1] is None and b"true" in map(bytes, said)


def test_none_is_lost_but_the_marks_of_what_was_sent(sent, lines):
    assert {n for n in sent if n not in lines} == {n for n, row in sent.items() if _is_mark(row)}


def test_every_dialect_was_given_good_and_bad_records(lines):
    counts = Counter((line.source_topic, line.entry) for line in lines.values())
    for dialect in DIALECTS:
        assert counts[dialect, "put"] > 5, counts
        assert counts[dialect, "reject"] > 5, counts


def test_what_is_refused_has_a_reason_a_sentence_and_all_that_came(sent, lines):
    refused = {n: line for n, line in lines.items() if line.entry == "reject"}
    for number, line in refused.items():
        row = sent[number]
        assert line.reason in set(Reason), row
        assert line.detail and line.output_topic == "dead", row
        assert (line.payload, line.key) == (_value(row), row[0] and bytes(row[0])), row
        came = [(name, value and bytes(value)) for name, value in row[2] or []]
        assert headers_of(line)[: len(came)] == came, row


def test_what_is_not_refused_is_whole(sent, lines):
    for number, line in lines.items():
        row = sent[number]
        if line.entry == "put":
            assert line.due is not None and line.output_topic == "out" and line.identity, row
        if line.entry == "cancel" and line.source_topic != "cloudevents":
            assert _value(row) is None and line.identity, row
        assert line.entry in ("put", "cancel", "control", "reject"), row
        assert (line.entry == "reject") == (line.reason is not None), row


def _of_avro(value: bytes) -> list[tuple]:
    """Return all that fastavro can make of a value which it reads to its end."""
    read = []
    for begin in (0, len(FRAME)):
        for schema in (OLD, NEW):
            rest = io.BytesIO(value[begin:])
            try:
                found = fastavro.schemaless_reader(rest, schema)
            except (EOFError, IndexError, ValueError, OverflowError, MemoryError):
                continue
            if not rest.read():
                read.append((found["key"], found["value"], found["time"] * 1000))
    return read


def _of_json(value: bytes) -> list[tuple]:
    said = json.loads(value)
    payload = said.get("value")
    due = int(said["time"]) * 1000
    return [(_unpadded(said["key"]), None if payload is None else _unpadded(payload), due)]


def _unpadded(text: str) -> bytes:
    return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)


ORACLES: dict[str, Callable[[bytes], list[tuple]]] = {"kms-avro": _of_avro, "kms-json": _of_json}


@pytest.mark.parametrize("dialect", ORACLES)
def test_what_is_put_is_what_another_reader_makes_of_the_value(sent, lines, dialect):
    def read(line: SimpleNamespace) -> tuple:
        return line.output_key, line.payload, line.due

    puts = {n: of for n, of in lines.items() if (of.source_topic, of.entry) == (dialect, "put")}
    for number, line in puts.items():
        value = _value(sent[number])
        assert value is not None and read(line) in ORACLES[dialect](value), value


@pytest.mark.parametrize("dialect", HEADERS)
def test_a_payload_beside_headers_is_never_touched(sent, lines, dialect):
    puts = {n: of for n, of in lines.items() if (of.source_topic, of.entry) == (dialect, "put")}
    for number, line in puts.items():
        row = sent[number]
        assert line.payload == _value(row), row
        came = [(name, value and bytes(value)) for name, value in row[2]]
        assert headers_of(line)[: len(came)] == came, row
