"""What is written beside a checkpoint is the same whether Spark wrote it, or was left out."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipeline.first_line import first_line, write_line


@pytest.fixture(params=["{}/a folder#1", "file:{}/a%20folder", "file://{}/b"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(request.param.format(tmp_path))


def test_spark_reads_what_was_written_without_it(spark: SparkSession, place: str) -> None:
    write_line(spark, place, "state-1")
    assert [str(line[0]) for line in spark.read.text(place).collect()] == ["state-1"]
    assert first_line(spark, place) == "state-1"


def test_what_spark_wrote_is_read_without_it(spark: SparkSession, place: str) -> None:
    spark.createDataFrame([("state-2",)], "value string").write.text(place)
    assert first_line(spark, place) == "state-2"


def test_a_folder_left_empty_by_a_crash_holds_no_line_and_is_written_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    (place / "_part").write_text("state-3\n")
    assert first_line(spark, str(place)) is None
    write_line(spark, str(place), "state-4")
    assert first_line(spark, str(place)) == "state-4"


def test_there_is_no_line_where_there_is_no_file(spark: SparkSession, place: str) -> None:
    assert first_line(spark, place) is None
