"""Counts documents in the database; what is counted by the due of pending rows, from its index."""

from collections.abc import Collection, Sequence

import pyarrow as pa

from state.inspector import Filter
from state.mongo.last_commit import SHOWN, Changed, LastCommit
from state.mongo.layout import SCHEDULES, VERSIONS, Db, Document
from state.mongo.ways import Way, ways
from state.select import expression
from state.tally import COUNT, FIRST, INSTANT, LAST, Tally


def tally_of(
    db: Db,
    last: LastCommit,
    where: Filter,
    by: Sequence[str],
    every: int | None,
    of: str,
    indexes: Collection[str],
) -> pa.Table:
    """Count what matches, as it stands after the last commit."""
    counted = Tally(by, every, of)
    for name in (SCHEDULES, VERSIONS):
        for way in ways(where, last.meta):
            match, group = _match(name, way, last.changed), _group(by, every, of)
            steps = [{"$match": match}, {"$group": group}]
            found = list(db[name].aggregate(steps, allowDiskUse=True, **way.hint(indexes)))
            counted.merge(_as_table(found, [*by, *([INSTANT] if every is not None else [])]))
    counted.add(last.rows.filter(expression(where)).select(counted.columns))
    return counted.table()


def _match(name: str, way: Way, changed: Changed) -> Document:
    apart = {"_id": {"$nin": list(changed[name])}} if changed[name] else {}
    return {"$and": [SHOWN | way.terms, apart]}


def _group(by: Sequence[str], every: int | None, of: str) -> Document:
    groups: Document = {name: f"${name}" for name in by}
    if every is not None:
        groups[INSTANT] = {"$subtract": [f"${of}", _remainder(f"${of}", every)]}
    figures = {COUNT: {"$sum": 1}, FIRST: {"$min": f"${of}"}, LAST: {"$max": f"${of}"}}
    return {"_id": groups, **figures}


def _remainder(of: str, every: int) -> Document:
    """Return what is left of a span; the remainder of the database is negative before 1970."""
    return {"$mod": [{"$add": [{"$mod": [of, every]}, every]}, every]}


def _as_table(found: Sequence[Document], names: Sequence[str]) -> pa.Table:
    columns = {name: [group["_id"].get(name) for group in found] for name in names}
    columns |= {name: [group[name] for group in found] for name in (COUNT, FIRST, LAST)}
    return pa.table({name: pa.array(column) for name, column in columns.items()})
