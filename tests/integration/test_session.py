"""The session reads Kafka, writes Delta, and lets its user have the last word."""

from collections.abc import Callable
from pathlib import Path

import pytest
from chispa import assert_df_equality
from pyspark.sql import SparkSession

from pipeline.light_plan import light_plan
from pipeline.local_kafka import LocalKafka
from pipeline.session import open_session, session_options, spark_session
from state.errors import SetupError


def test_a_stream_goes_from_kafka_to_delta(
    spark: SparkSession, broker: LocalKafka, topics: Callable[..., str], tmp_path: Path
) -> None:
    topic, table = topics(), str(tmp_path / "table")
    servers = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    sent = spark.range(5).selectExpr("cast(id as string) as value")
    sent.write.format("kafka").options(**servers).option("topic", topic).save()
    source = spark.readStream.format("kafka").options(**servers)
    stream = source.option("subscribe", topic).option("startingOffsets", "earliest").load()
    writer = stream.selectExpr("cast(value as string) as value").writeStream.format("delta")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    assert writer.trigger(availableNow=True).start(table).awaitTermination(120)
    assert_df_equality(
        spark.read.format("delta").load(table), sent, ignore_row_order=True, ignore_nullable=True
    )


def test_time_is_utc_in_sql_and_in_java(spark: SparkSession) -> None:
    zone = "java_method('java.time.ZoneId', 'systemDefault')"
    assert spark.sql(f"select current_timezone() as sql, {zone} as java").collect() == [
        ("UTC", "UTC")
    ]


def test_a_session_that_runs_is_taken(spark: SparkSession) -> None:
    assert spark_session("another") is spark


def test_a_session_that_runs_is_told_the_time_zone(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    taken = spark_session("another")
    assert taken.sql("select current_timezone()").collect() == [("UTC",)]


def test_rules_are_left_out_while_a_query_starts_and_no_longer(spark: SparkSession) -> None:
    option, own = "spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer.X"
    with light_plan(spark):
        assert "SchemaPruning" in spark.conf.get(option)
    assert spark.conf.get(option, None) is None
    spark.conf.set(option, own)
    with light_plan(spark):
        assert spark.conf.get(option).startswith(f"{own},")
    assert spark.conf.get(option) == own
    spark.conf.unset(option)


def test_the_users_options_win() -> None:
    options = session_options(True, {"spark.sql.shuffle.partitions": "9", "spark.jars": "/my.jar"})
    assert options["spark.sql.shuffle.partitions"] == "9"
    assert options["spark.jars"] == "/my.jar"


def test_the_users_java_options_are_added_to_ours() -> None:
    options = session_options(True, {"spark.driver.extraJavaOptions": "-Xss4m"})
    java = options["spark.driver.extraJavaOptions"]
    assert java.startswith("-Duser.timezone=UTC ")
    assert java.endswith(" -Xss4m")


def test_on_a_platform_the_platforms_jars_and_logs_stay() -> None:
    options = session_options(False, {})
    assert "spark.jars" not in options
    assert "log4j2" not in options["spark.driver.extraJavaOptions"]


def test_a_job_that_keeps_running_is_refused_where_the_driver_is_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(SetupError, match="run it with --once"), open_session("job"):
        pass


def test_a_session_that_was_there_before_is_left_running(spark: SparkSession) -> None:
    with open_session("job") as lent:
        assert lent is spark
    assert spark.range(1).count() == 1
