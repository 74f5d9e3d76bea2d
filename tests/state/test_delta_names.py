"""The tables of a state can be found by name in Spark's catalog."""

import os
import threading

import pytest
from build import put, tick

from state.delta.named import local_path
from state.errors import StateError
from state.inspect import open_inspector
from state.open import open_store
from state.settings import DeltaSettings, StateSettings

SCHEMA = f"names_{os.getpid()}"


@pytest.fixture
def schema(spark):
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    yield SCHEMA
    spark.sql(f"DROP SCHEMA {SCHEMA} CASCADE")


def settings(folder, schema):
    return StateSettings(delta=DeltaSettings(path=str(folder), catalog_schema=schema))


def test_what_the_job_writes_is_read_by_name(spark, schema, tmp_path):
    mine = settings(tmp_path / "state", f"spark_catalog.{schema}")
    store = open_store(mine, spark)
    store.commit(tick(0, commands=[put(b"a", 0, due=1)]))
    assert spark.table(f"{schema}.changelog").count() > 0
    assert spark.table(f"{schema}.schedules").columns
    store.close()
    open_store(mine, spark).close()  # they are known already
    with pytest.raises(StateError, match=f"catalog_schema {schema} has a table schedules of anoth"):
        open_store(settings(tmp_path / "another", schema), spark)


def test_a_schema_that_is_not_there_is_told(spark, tmp_path):
    with pytest.raises(StateError, match=r"catalog_schema nowhere .*make that schema"):
        open_store(settings(tmp_path / "state", "nowhere"), spark)


def by_name(schema):
    return StateSettings(delta=DeltaSettings(catalog_schema=schema))


def test_a_state_is_opened_by_the_name_of_its_schema_alone(spark, schema, tmp_path):
    store = open_store(settings(tmp_path / "a state", schema), spark)
    store.commit(tick(0, commands=[put(b"a", 0, due=1)]))
    store.close()
    named = by_name(f"spark_catalog.{schema}")
    assert open_inspector(named, spark).stats(0).ledger.accepted == 1
    found = []  # the session that is active need not be named, in no thread
    other = threading.Thread(target=lambda: found.append(open_inspector(named).versions(b"a")))
    other.start()
    other.join()
    assert found[0].num_rows == 1


def test_a_path_that_is_set_is_read_whatever_has_the_names(spark, schema, tmp_path):
    open_store(settings(tmp_path / "state", schema), spark).close()
    mine = open_store(settings(tmp_path / "mine", None))
    mine.commit(tick(0, commands=[put(b"a", 0, due=1)]))
    mine.close()
    assert open_inspector(settings(tmp_path / "mine", schema)).stats(0).ledger.accepted == 1


def test_a_table_that_is_not_there_or_not_ours_is_told(spark, schema):
    with pytest.raises(StateError, match=rf"no table schedules .*catalog_schema {schema} \(.*set"):
        open_inspector(by_name(schema))
    spark.sql(f"CREATE TABLE {schema}.schedules (a int) USING delta")
    with pytest.raises(StateError, match="a table schedules that is not of a state of duestream"):
        open_inspector(by_name(schema))


def test_the_job_needs_the_path_all_the_same(spark, schema):
    with pytest.raises(StateError, match=r"state\.delta\.path is not set"):
        open_store(by_name(schema), spark)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:/data/a state", "/data/a state"),
        ("file:///data/state", "/data/state"),
        ("dbfs:/mnt/state", "/dbfs/mnt/state"),
        ("dbfs:/Volumes/main/duestream/state", "/Volumes/main/duestream/state"),
        ("s3://bucket/state", "s3://bucket/state"),
        ("abfss://c@a.dfs.core.windows.net/state", "abfss://c@a.dfs.core.windows.net/state"),
    ],
)
def test_where_spark_says_a_table_lies_is_opened_without_spark(uri, path):
    assert local_path(uri) == path
