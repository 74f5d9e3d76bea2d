"""Topics of all dialects in one job: who reads what, and which keys are the same."""

import zlib

import pytest
from foreign_records import (
    DIALECTS,
    SOURCES,
    decode_foreign,
    etf1,
    karafka,
    kms_avro,
    kms_json,
    mongo,
    source,
)
from kafka_records import SCHEMA, as_the_driver_sees, record, structured
from test_avro_schedule import GOLDEN

from pipeline.config.blocks import WithdrawSettings
from pipeline.config.checks import contradictions
from pipeline.config.settings import Settings
from pipeline.dialects.choose import decode, names_in
from pipeline.raw import LINE
from pipeline.withdraw import with_withdrawals

NUL = b"\0"


class Message:
    """A record as the lookout has it from confluent_kafka."""

    def __init__(self, key, value=b"v", headers=None, partition=0):
        self._given = {"key": key, "value": value, "headers": headers, "partition": partition}

    def __getattr__(self, name):
        return lambda: self._given[name]


@pytest.fixture(scope="module")
def mixed(spark):
    return decode_foreign(
        spark,
        {
            "cloudevents": record(structured(), topic="cloudevents"),
            "cloudevents-mongo": mongo(),
            "kms-avro": kms_avro(bytes.fromhex(GOLDEN["four fields"])),
            "kms-json": kms_json(),
            "etf1": etf1(),
            "karafka": karafka(partition=3),
        },
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_record_is_read_in_the_dialect_of_its_topic(mixed, dialect):
    line = mixed[dialect]
    assert (line.reason, line.entry, line.output_topic) == (None, "put", "out"), line.detail


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_lookout_finds_the_identity_that_the_dialect_makes(mixed, dialect):
    found = names_in(source(dialect))(Message(b"k", partition=3))
    assert (mixed[dialect].identity, mixed[dialect].hash) == (found, zlib.crc32(found))


def test_a_key_names_a_schedule_within_its_topic_and_for_karafka_within_its_partition(mixed):
    assert mixed["etf1"].identity == b"etf1" + NUL + b"k"
    assert mixed["karafka"].identity == b"karafka" + NUL + b"3" + NUL + b"k"


def test_the_lookout_passes_over_what_only_says_that_a_message_was_sent():
    mark = [("schedule:expired", b"TRUE")]
    for dialect in ("kms-avro", "kms-json"):
        names = names_in(source(dialect))
        assert names(Message(b"k", None, mark)) is None
        assert names(Message(b"k", None)) == names(Message(b"k", b"v", mark)) is not None
    for dialect in ("etf1", "karafka"):
        names = names_in(source(dialect))
        assert names(Message(b"k", None, [("duestream-ended", b"done")])) is None
        assert names(Message(b"k", None, mark)) == names(Message(b"k", b"v")) is not None


def test_topics_of_one_namespace_share_their_keys_whatever_their_dialects(spark):
    one, other = source("etf1", "a", "shared"), source("kms-json", "b", "shared")
    cases = {
        "etf1": (*etf1()[:3], "a", *etf1()[4:]),
        "kms": (*kms_json()[:3], "b", *kms_json()[4:]),
    }
    found = decode_foreign(spark, cases, [one, other, source("kms-json", "c")])
    assert {line.identity for line in found.values()} == {b"shared" + NUL + b"k"}
    assert names_in(one)(Message(b"k")) == names_in(other)(Message(b"k")) == b"shared\0k"
    assert {line.source_topic for line in found.values()} == {"a", "b"}


def test_what_withdraws_a_schedule_is_read_as_a_cancel_in_the_namespace_of_its_source(spark):
    rule = WithdrawSettings(topic="paid", source="a")
    rows = [record(b"any", topic="paid"), (*etf1()[:3], "a", *etf1()[4:])]
    read = with_withdrawals(spark.createDataFrame(rows, SCHEMA), [rule])
    sources = [source("etf1", "a", "shared"), source("kms-json", "b")]
    found = {line.source_topic: line for line in as_the_driver_sees(decode(read, sources))}
    assert (found["paid"].entry, found["paid"].identity) == ("cancel", found["a"].identity)


def test_a_single_dialect_is_read_without_a_filter_and_all_give_the_agreed_columns(spark):
    nothing = with_withdrawals(spark.createDataFrame([], SCHEMA), [])
    single = decode(nothing, [source("cloudevents-mongo")])  # which has no marks to pass over
    several = decode(nothing, SOURCES)
    assert single.columns == several.columns == LINE.names
    assert dict(single.dtypes) == dict(several.dtypes)
    assert "Filter" not in single._jdf.queryExecution().analyzed().toString()


def _problems(*sources, **more):
    given = [given if isinstance(given, dict) else given.model_dump() for given in sources]
    return {p.path: p.sentence for p in contradictions(Settings(sources=given, **more))}


def test_an_output_topic_is_for_the_dialect_that_names_none_and_only_for_it():
    nameless = {"topic": "m", "dialect": "cloudevents-mongo"}
    assert "needs it" in _problems(nameless)["sources[0].output_topic"]
    useless = {"topic": "m", "dialect": "etf1", "output_topic": "o"}
    assert "of no use with etf1" in _problems(useless)["sources[0].output_topic"]
    circular = _problems(nameless | {"output_topic": "m"})
    assert "itself reads" in circular["sources[0].output_topic"]
    assert _problems(nameless | {"output_topic": "o"}) == {}


def test_keys_of_karafka_are_shared_with_no_other_dialect_and_withdrawn_by_no_other_topic():
    mine, other = source("karafka", "a", "n"), source("etf1", "b", "n")
    assert "partition only" in _problems(mine, other)["sources[1].namespace"]
    assert _problems(mine, source("karafka", "b", "n")) == {}
    rule = {"topic": "paid", "source": "a"}
    assert "partition too" in _problems(mine, withdraw=[rule])["withdraw[0].source"]
