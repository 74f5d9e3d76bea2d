"""Rows in memory are found and counted as they are in a table that is read from end to end."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from build import identity_of
from hypothesis import HealthCheck, given, settings

from state.columns import reshape
from state.cursor import Cursor, Order
from state.delta.light import LIGHT, LightRows
from state.inspector import Filter
from state.row import PARKED, Kind, Status
from state.select import expression, first
from state.tally import Tally

NAMES = LIGHT.names
KEYS = [b"a", b"ab", b"b", b"", None]

rows = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(KEYS),
            "due": st.sampled_from([1, 2, 3, PARKED]),
            "changed_at": st.integers(1, 4),
            "source_topic": st.sampled_from(["in", "more"]),
            "status": st.sampled_from([Status.PENDING.value, Status.CLAIMED.value, "done"]),
            "kind": st.sampled_from([Kind.MESSAGE.value, Kind.COMMAND.value]),
            "output_topic": st.sampled_from(["x", "y", None]),
            "policy": st.sampled_from([None, '{"repeat":{}}']),
            "absent": st.booleans(),
        }
    ),
    max_size=30,
)
filters = st.builds(
    Filter,
    statuses=st.sampled_from([None, [Status.PENDING], [Status.PENDING, Status.CLAIMED]]),
    output_topic=st.sampled_from([None, None, "x", "z"]),
    due_from=st.sampled_from([None, None, 2, PARKED]),
    due_to=st.sampled_from([None, None, 3, PARKED]),
    key=st.sampled_from([None, None, None, b"a", b""]),
    kind=st.sampled_from([None, Kind.MESSAGE]),
    limit=st.sampled_from([None, 1, 3]),
    key_prefix=st.sampled_from([None, None, b"a", b"zz"]),
    changed_from=st.sampled_from([None, None, 2]),
    repeating=st.sampled_from([False, False, True]),
    order=st.sampled_from(Order),
    source_topic=st.sampled_from([None, None, "more"]),
)
often = settings(
    max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def made(lines, order):
    """Return the rows in memory, which of them are absent, and those that are not as a table."""
    full = [
        line | {"source_offset": n, "source_partition": 0, "source_timestamp": n % 2}
        for n, line in enumerate(lines)
    ]
    table = pa.Table.from_pylist(full, LIGHT.append(pa.field("absent", pa.bool_())))
    named = {"occurrence": 0, "identity": identity_of(b"k"), "hash": 0}
    light = LightRows(reshape(table, LIGHT, named), order)
    gone = {n for n, line in enumerate(lines) if line["absent"]}
    absent = np.array([n in gone for n in light.rows.column("source_offset").to_pylist()], bool)
    return light, absent, light.rows.filter(pa.array(~absent))


@often
@given(rows, filters, st.sampled_from([Order.NEXT_DUE, Order.LAST_CHANGED]), st.data())
def test_what_is_found_is_what_a_scan_finds(lines, where, order, data):
    light, absent, there = made(lines, order)
    if there.num_rows and data.draw(st.booleans()):
        row = data.draw(st.sampled_from(there.to_pylist()))
        where = replace(where, after=Cursor.of(row, where.order))
    found = first(light.find(where, absent), where)
    assert found == first(there.filter(expression(where)), where)


@often
@given(rows, filters, st.sampled_from([Order.NEXT_DUE, Order.LAST_CHANGED]), st.data())
def test_what_is_counted_is_what_a_scan_counts(lines, where, order, data):
    light, absent, there = made(lines, order)
    by = data.draw(st.sampled_from([[], ["status"], ["kind", "output_topic"], ["key"]]))
    every, of = (
        data.draw(st.sampled_from([None, 2])),
        data.draw(st.sampled_from(["due", "changed_at"])),
    )
    where = replace(where, limit=None)
    counted, expected = Tally(by, every, of), Tally(by, every, of)
    light.tally(where, counted, absent)
    expected.add(there.filter(expression(where)))
    assert counted.table().to_pylist() == expected.table().to_pylist()


@pytest.mark.parametrize("order", [Order.NEXT_DUE, Order.LAST_DUE])
def test_a_place_among_many_that_are_due_at_one_instant_is_found_at_once(order):
    line = {"key": b"a", "due": PARKED, "changed_at": 1, "source_topic": "in", "policy": None}
    line |= {"status": "pending", "kind": "message", "output_topic": "x", "absent": False}
    light, _, there = made([line] * 5_000, Order.NEXT_DUE)
    middle = there.slice(2_500, 1).to_pylist()[0]
    where = Filter(order=order, limit=2, after=Cursor.of(middle, order))
    [places] = [*light._candidates(where)][:1]
    expected = [2_501, 2_502] if order is Order.NEXT_DUE else [2_499, 2_498]
    assert places[:2].tolist() == expected
