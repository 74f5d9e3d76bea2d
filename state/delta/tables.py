"""Finds the tables of a state below one path, and reads them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

from state.copying import half_copied
from state.delta.layout import (
    APP,
    CHANGELOG,
    COPY_PROPERTY,
    LAYOUT,
    LAYOUT_PROPERTY,
    STATE_ID_PROPERTY,
    TABLES,
    Layout,
)
from state.delta.named import path_by_name
from state.errors import StateError
from state.settings import DeltaSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYS = "keys"  # the folder beside the tables that holds an index of keys
_ABSENT = "no state at {path} yet; start the job with `duestream run`, or set state.delta.path"


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the tables are and how their storage is reached."""

    path: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def uri(self, layout: Layout) -> str:
        """Return the place of one table."""
        return f"{self.path.rstrip('/')}/{layout.name}"

    def open(self, layout: Layout, version: int | None = None) -> DeltaTable:
        """Return the newest version of a table, or an older one; StateError if not readable."""
        try:
            return DeltaTable(self.uri(layout), version, dict(self.options))
        except TableNotFoundError as error:
            raise StateError(_ABSENT.format(path=self.path)) from error
        except (DeltaError, OSError) as error:
            raise StateError(_unreadable(self.path, error)) from error

    def dataset(self, layout: Layout) -> ds.Dataset:
        """Return the newest version of a table, ready to be scanned."""
        return scannable(self.open(layout))

    def exist(self) -> bool:
        """Tell whether a state is here; StateError when it is but a part of a copy."""
        if not self.has(CHANGELOG):
            return False
        if self.half_copied() is not None:
            raise StateError(half_copied(f"state.delta.path {self.path}"))
        return True

    def has(self, layout: Layout) -> bool:
        """Tell whether a table is there."""
        try:
            return DeltaTable.is_deltatable(self.uri(layout), dict(self.options))
        except (DeltaError, OSError) as error:
            raise StateError(_unreadable(self.path, error)) from error

    def commits(self, layout: Layout = CHANGELOG) -> int:
        """Return the number of the newest commit of the job that a table has."""
        return int(self.open(layout).transaction_version(APP) or 0)

    def half_copied(self) -> str | None:
        """Return what a copy that is not finished says of itself; None if there is none."""
        changelog = self.open(CHANGELOG)
        copy = changelog.metadata().configuration.get(COPY_PROPERTY)
        return copy if changelog.transaction_version(APP) is None else None

    def state_id(self) -> str:
        """Return the name of the state; StateError when the tables are not ours."""
        if not self.exist():
            raise StateError(_ABSENT.format(path=self.path))
        names = {self._checked(self.open(layout)) for layout in TABLES}
        if len(names) > 1:
            raise StateError(
                f"state.delta.path {self.path} holds tables of different states; "
                "restore all three from the same backup, or set another path"
            )
        return names.pop()

    def unfinished_id(self) -> str | None:
        """Return the name given to a state whose making was cut short."""
        first = TABLES[0]
        if not self.has(first):
            return None
        return self._checked(self.open(first))

    def _checked(self, table: DeltaTable) -> str:
        found = table.metadata().configuration
        if LAYOUT_PROPERTY not in found:
            raise StateError(
                f"state.delta.path {self.path} holds Delta tables that are not a state of "
                "duestream; set a path of its own"
            )
        if found[LAYOUT_PROPERTY] != LAYOUT:
            raise StateError(
                f"the state at state.delta.path {self.path} has layout {found[LAYOUT_PROPERTY]}, "
                f"this version reads layout {LAYOUT}; use the version that wrote it"
            )
        return str(found[STATE_ID_PROPERTY])


def scannable(table: DeltaTable) -> ds.Dataset:
    """Return a table as Arrow scans it; files on a disk are read without the way through delta-rs.

    That way calls Python for every read, holds up the job's interpreter and takes twice as long.
    """
    place = table.table_uri.removeprefix("file://")
    local = None if "://" in place else SubTreeFileSystem(unquote(place), LocalFileSystem())
    return table.to_pyarrow_dataset(filesystem=local)


def tables_of(settings: DeltaSettings) -> Tables:
    """Return the tables that the settings name; StateError when they name none."""
    if settings.path is None:
        raise StateError(
            "state.delta.path is not set; give a durable folder or URI such as s3://bucket/state, "
            "or set state.kind to memory to try things out"
        )
    options = {name: value.get_secret_value() for name, value in settings.storage_options.items()}
    return Tables(settings.path, options)


def tables_to_read(settings: DeltaSettings, spark: "SparkSession | None" = None) -> Tables:
    """Return the tables that the settings name, by path or else by their names in a catalog."""
    if settings.path is not None or settings.catalog_schema is None:
        return tables_of(settings)
    path = path_by_name(settings.catalog_schema, spark)
    return tables_of(settings.model_copy(update={"path": path}))


def refuse_foreign(tables: Tables) -> None:
    """Raise StateError when the state's folder is a file, or holds what is not ours."""
    folder = Path(tables.path.removeprefix("file://"))
    if "://" in str(folder) or not folder.exists():
        return
    if not folder.is_dir():
        raise StateError(f"state.delta.path {tables.path} is a file; give a folder")
    ours = {KEYS, *(layout.name for layout in TABLES)}
    foreign = sorted(p.name for p in folder.iterdir() if p.name not in ours)
    if foreign:
        raise StateError(
            f"state.delta.path {tables.path} holds other things ({', '.join(foreign[:3])}); "
            "give an empty folder, or a path that does not exist yet"
        )


def read(
    data: ds.Dataset, columns: list[str] | None = None, where: pc.Expression | None = None
) -> pa.Table:
    """Scan a table; all columns and rows unless told otherwise."""
    try:
        return data.to_table(columns=columns, filter=where)
    except OSError as error:
        raise StateError(broken(error)) from error


def parts(data: ds.Dataset, columns: list[str], where: pc.Expression) -> Iterator[pa.Table]:
    """Scan a table a part at a time."""
    try:
        for batch in data.scanner(columns=columns, filter=where).to_batches():
            if batch.num_rows:
                yield pa.Table.from_batches([batch])
    except OSError as error:
        raise StateError(broken(error)) from error


def broken(error: Exception) -> str:
    """Return the sentence for a file that is not what it was."""
    return (
        f"a file of the state cannot be read ({error}); restore the tables below "
        "state.delta.path from a backup, all three from the same time"
    )


def _unreadable(path: str, error: Exception) -> str:
    return (
        f"the state at state.delta.path {path} cannot be read ({error}); "
        "check the path and state.delta.storage_options"
    )
