"""Files that nobody uses any more may be dropped after minutes, where the settings say so."""

import os
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from state.clock import DAY, HOUR, MINUTE
from state.delta.layout import CHANGELOG, HISTORY, SCHEDULES, Layout, kept_for, properties
from state.delta.native import NativeFoldWriter, create_tables
from state.delta.tables import Tables

KEPT = "delta.deletedFileRetentionDuration"


@pytest.mark.parametrize(
    ("layout", "keep", "interval"),
    [
        (HISTORY, 7 * DAY, "168 hours"),
        (HISTORY, 90 * MINUTE, "1 hours"),
        (HISTORY, 5 * MINUTE, "300 seconds"),
        (CHANGELOG, 7 * DAY, "1 hours"),
        (CHANGELOG, 5 * MINUTE, "300 seconds"),
        (SCHEDULES, 0, "60 seconds"),  # a commit on its way must not lose its files
    ],
)
def test_a_table_says_how_long_its_unused_files_stay(
    layout: Layout, keep: int, interval: str
) -> None:
    assert properties(layout, "name", keep)[KEPT] == f"interval {interval}"
    assert kept_for(layout, keep) >= MINUTE


def dropped(tables: Tables, keep: int, said: str) -> bool:
    """Remove a row, tidy up, and tell whether its file is gone."""
    table = tables.open(HISTORY)
    row = {field.name: pa.nulls(1, field.type) for field in HISTORY.schema}
    write_deltalake(table, pa.table(row | {"seq": [1], "day": ["2027-01-01"]}), mode="append")
    table = tables.open(HISTORY)
    files = [Path(uri) for uri in table.file_uris()]
    table.delete()
    tables.open(HISTORY).alter.set_table_properties({KEPT: f"interval {said}"})
    NativeFoldWriter(tables).tidy(keep)
    return not any(file.exists() for file in files)


def test_below_an_hour_the_table_itself_says_for_how_long(tmp_path: Path) -> None:
    tables = Tables(str(tmp_path))
    create_tables(tables, "name", MINUTE)
    assert dropped(tables, MINUTE, "0 seconds")
    assert not dropped(tables, MINUTE, "60 seconds")
    assert not dropped(tables, MINUTE, "168 hours")  # made for longer: an hour at the least
    assert not dropped(tables, HOUR, "0 seconds")


def left_behind(tables: Tables, hours: float) -> Path:
    """Leave a file that no log names: a checkpoint has forgotten it, or a writer was killed."""
    file = Path(tables.uri(CHANGELOG)) / f"part-{hours}.parquet"
    file.write_bytes(b"")
    written = time.time() - 3600 * hours
    os.utime(file, (written, written))
    return file


def test_files_that_nobody_names_any_more_go_once_they_are_old_enough(tmp_path: Path) -> None:
    tables = Tables(str(tmp_path))
    create_tables(tables, "name", 7 * DAY)
    old, new = left_behind(tables, 1.1), left_behind(tables, 0.9)
    NativeFoldWriter(tables).tidy(7 * DAY)
    assert (old.exists(), new.exists()) == (False, True)
