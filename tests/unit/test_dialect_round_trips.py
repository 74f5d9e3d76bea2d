"""Whatever is written in a foreign format is read as what was meant, of each format."""

import pytest
from drawing import drawn
from foreign_records import SOURCES, decode_foreign, headers_of
from hypothesis import strategies as st
from kafka_records import SENT_MICROS, record

from tests.foreign import (
    DIALECTS,
    FRAME,
    SPEAKERS,
    Sent,
    Spoken,
    Wanted,
    expected,
    kms_avro,
    kms_json,
    mongo,
)

EACH = 150
FARTHEST = 4_800_000_000  # seconds, less than 100 years after the records are sent


def maybe(some: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | some


milliseconds = st.integers(0, FARTHEST * 1000)
seconds = st.integers(0, FARTHEST).map(lambda of: of * 1000)
texts = st.text().map(str.encode)
mapped = st.dictionaries(st.text(), st.binary(), max_size=4).map(lambda of: tuple(of.items()))
listed = st.lists(st.tuples(st.text(), st.none() | st.binary()), max_size=4).map(tuple)
WANTED = {
    "cloudevents-mongo": (milliseconds, maybe(texts), maybe(texts), st.just(()), st.none()),
    "kms-avro": (milliseconds, st.binary(), maybe(st.binary()), mapped, st.none()),
    "kms-json": (milliseconds, st.binary(), maybe(st.binary()), mapped, st.none()),
    "etf1": (seconds, maybe(st.binary(min_size=1)), st.binary(), listed, st.none()),
    "karafka": (
        seconds,
        maybe(st.text(min_size=1).map(str.encode)),
        st.binary(),
        listed,
        maybe(st.integers(0, 2**31 - 1)),
    ),
}


def ways_of(dialect: str, wanted: Wanted) -> list[Spoken]:
    """Write it in every way that the format has."""
    if dialect == "cloudevents-mongo":
        return [mongo(wanted, in_seconds=flag) for flag in (False, True)]
    if dialect == "kms-json":
        return [kms_json(wanted, in_full=flag) for flag in (False, True)]
    if dialect == "kms-avro":
        layouts = (5,) if wanted.headers else (4, 5)
        return [kms_avro(wanted, n, frame) for n in layouts for frame in (b"", FRAME)]
    return [SPEAKERS[dialect](wanted)]


@pytest.fixture(scope="module")
def written():
    """Return what was meant, and what was written, of each record."""
    return [
        (dialect, wanted, spoken)
        for dialect in DIALECTS
        for wanted in drawn(st.builds(Wanted, st.just("out"), *WANTED[dialect]), EACH)
        for spoken in ways_of(dialect, wanted)
    ]


@pytest.fixture(scope="module")
def read(spark, written):
    sources = [source for source in SOURCES if source.dialect in DIALECTS]
    cases = {
        number: record(spoken.value, list(spoken.headers), topic=dialect)
        for number, (dialect, _, spoken) in enumerate(written)
    }
    return decode_foreign(spark, cases, sources)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_written_is_read_as_it_was_meant(written, read, dialect):
    ours = [number for number, (of, _, _) in enumerate(written) if of == dialect]
    assert len(ours) >= EACH / 2
    for number in ours:
        _, wanted, spoken = written[number]
        line = read[number]
        sent = Sent(dialect, b"k", spoken, SENT_MICROS // 1000, 0, number)
        assert (line.entry, line.reason) == ("put", None), (line.detail, spoken)
        assert (line.due, line.output_partition) == (wanted.due * 1000, wanted.partition), spoken
        found = (line.output_topic, line.output_key, line.payload, tuple(headers_of(line)))
        assert found == expected(dialect, wanted, sent), spoken
