"""Headers by name: which of two counts does not depend on what the session may be told."""

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from pipeline.dialects.headers import first_of_each, last_of_each, tell_policy
from pipeline.raw import RAW_HEADERS

POLICY = "spark.sql.mapKeyDedupPolicy"
HEADERS = f"{RAW_HEADERS} array<struct<key:string,value:binary>>"
RECORDS = [
    [("a", b"1"), ("b", b"2")],
    [("a", b"1"), ("b", None), ("a", b"3"), ("b", b"4"), ("a", None)],
    [],
    None,
]


@pytest.fixture(params=["LAST_WIN", "EXCEPTION"])
def session(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """A session that was told the policy, and one that could not be."""
    before = spark.conf.get(POLICY)
    spark.conf.set(POLICY, request.param)
    yield spark
    spark.conf.set(POLICY, before)


def test_of_two_headers_with_one_name_the_last_counts_or_the_first(session: SparkSession) -> None:
    rows = session.createDataFrame([(each,) for each in RECORDS], HEADERS)
    found = rows.select(last_of_each(F.col(RAW_HEADERS)), first_of_each()).collect()
    assert found == [
        Row({"a": b"1", "b": b"2"}, {"a": b"1", "b": b"2"}),
        Row({"a": None, "b": b"4"}, {"a": b"1", "b": None}),
        Row({}, {}),
        Row(None, None),
    ]


class Strict:
    """A session that lets nobody set this option, as serverless compute does."""

    @property
    def conf(self) -> "Strict":
        return self

    def set(self, _name: str, _value: str) -> None:
        raise AnalysisException("[CONFIG_NOT_AVAILABLE] it is not available")


def test_a_session_that_may_not_be_told_is_used_as_it_is() -> None:
    tell_policy(Strict())
