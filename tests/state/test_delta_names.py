"""The tables of a state can be found by name in Spark's catalog."""

import os

import pytest
from build import put, tick

from state.errors import StateError
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
