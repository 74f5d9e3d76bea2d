"""Brings ``schedules`` up to date by writing those of its files anew that hold changed rows.

delta-rs can MERGE as well, but joins whole buckets with what has changed, in memory. Here files are
read a part at a time, and those that hold nothing of it are left alone.
"""

import time
from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.transaction import AddAction, RemoveAction

from state.admission import coordinates_of
from state.delta.bucket_file import BucketFiles
from state.delta.layout import BUCKET, SCHEDULES
from state.delta.overlay import COORDINATES
from state.delta.tables import scannable
from state.delta.versions import Versions
from state.delta.writer import GONE


def rewrite(
    table: DeltaTable, source: pa.Table, buckets: list[str], properties: CommitProperties
) -> None:
    """Put rows in the place of those that bear the same version, or drop them, in one commit."""
    data = scannable(table)
    changed = Versions(set(coordinates_of(source)))
    fresh = _by_bucket(source.filter(pc.invert(source.column(GONE))))
    touched = _touched(data, buckets, changed)
    actions: list[AddAction | RemoveAction] = []
    for bucket in sorted({*fresh, *touched}):
        files = BucketFiles(data.filesystem, bucket)
        for fragment in touched[bucket]:
            _keep(data, fragment, changed, files)
            actions.append(_removed(fragment, bucket))
        files.write(fresh.get(bucket, source.slice(0, 0)))
        files.close()
        actions += files.added
    table.create_write_transaction(
        actions,
        mode="append",
        schema=Schema.from_arrow(SCHEDULES.schema),
        partition_by=[BUCKET],
        commit_properties=properties,
    )


def _by_bucket(rows: pa.Table) -> dict[str, pa.Table]:
    labels = pc.unique(rows.column(BUCKET)).to_pylist()
    return {label: rows.filter(pc.equal(rows.column(BUCKET), label)) for label in labels}


def _touched(
    data: ds.Dataset, buckets: list[str], changed: Versions
) -> defaultdict[str, list[ds.Fragment]]:
    """Return the files that hold changed rows, by their bucket."""
    found: defaultdict[str, list[ds.Fragment]] = defaultdict(list)
    for bucket in buckets:
        for fragment in data.get_fragments(filter=pc.field(BUCKET) == bucket):
            names = fragment.to_table(schema=data.schema, columns=COORDINATES)
            if changed.among(names).any():
                found[bucket].append(fragment)
    return found


def _keep(data: ds.Dataset, fragment: ds.Fragment, changed: Versions, files: BucketFiles) -> None:
    """Write the rows of a file that stay as they are, one part of it after the other."""
    for group in fragment.split_by_row_group(schema=data.schema):
        rows = group.to_table(schema=data.schema)
        files.write(rows.filter(pa.array(~changed.among(rows))))


def _removed(fragment: ds.Fragment, bucket: str) -> RemoveAction:
    return RemoveAction(
        fragment.path,
        data_change=True,
        deletion_timestamp=int(time.time() * 1000),
        partition_values={BUCKET: bucket},
    )
