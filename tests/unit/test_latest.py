import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.latest import latest
from state.columns import reshape
from state.version import Version, is_newer

SCHEMA = pa.schema(
    [
        ("entry", pa.string()),
        ("identity", pa.binary()),
        ("source_partition", pa.int32()),
        ("source_offset", pa.int64()),
        ("source_timestamp", pa.int64()),
        ("superseded", pa.int32()),
    ]
)
FULL = SCHEMA.append(pa.field("source_topic", pa.string())).append(pa.field("policy", pa.string()))


def _table(lines):
    columns = zip(*lines, strict=True) if lines else [[]] * len(SCHEMA)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _check(lines, expected):
    table = _table(lines)
    halves = pa.concat_tables([table.slice(0, len(lines) // 2), table.slice(len(lines) // 2)])
    for whole in (table, halves):
        lines_of_topic = reshape(whole, FULL, {"source_topic": "in"})
        found = latest(lines_of_topic).select(SCHEMA.names).to_pylist()
        found = [tuple(line.values()) for line in found]
        assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_an_empty_batch_stays_empty():
    _check([], [])


def test_on_one_partition_the_higher_offset_wins_whatever_the_clock_said():
    _check(
        [("put", b"a", 0, 1, 900, 0), ("put", b"a", 0, 2, 100, 0), ("put", b"b", 0, 3, 1, 0)],
        [("put", b"a", 0, 2, 100, 1), ("put", b"b", 0, 3, 1, 0)],
    )


def test_across_partitions_the_later_timestamp_of_their_newest_wins():
    _check(
        [("put", b"a", 0, 1, 900, 0), ("put", b"a", 0, 2, 100, 0), ("put", b"a", 1, 0, 500, 0)],
        [("put", b"a", 1, 0, 500, 2)],
    )


def test_at_the_same_timestamp_the_higher_partition_wins():
    _check(
        [("put", b"a", 0, 9, 5, 0), ("put", b"a", 1, 1, 5, 0)],
        [("put", b"a", 1, 1, 5, 1)],
    )


def test_cancels_compete_but_only_puts_are_counted_as_superseded():
    _check(
        [("put", b"a", 0, 1, 1, 0), ("cancel", b"a", 0, 2, 2, 0), ("cancel", b"a", 0, 3, 3, 0)],
        [("cancel", b"a", 0, 3, 3, 1)],
    )
    _check(
        [("cancel", b"a", 0, 1, 1, 0), ("put", b"a", 0, 2, 2, 0)],
        [("put", b"a", 0, 2, 2, 0)],
    )


def test_every_reject_note_and_clock_line_is_kept():
    lines = [
        ("reject", b"\0in\x000:1", 0, 1, 1, 0),
        ("reject", b"\0in\x000:2", 0, 2, 1, 0),
        ("note", None, None, None, None, 0),
        ("note", None, None, None, None, 0),
        ("clock", None, None, None, None, 0),
    ]
    _check(lines, lines)


lines_of_keys = st.lists(
    st.tuples(
        st.sampled_from(["put", "cancel"]),
        st.sampled_from([b"a", b"b", b"c"]),
        st.integers(0, 2),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=200, deadline=None)
@given(lines_of_keys)
def test_a_batch_keeps_what_the_rule_of_versions_keeps(drawn):
    lines = [(e, k, p, offset, t, 0) for offset, (e, k, p, t) in enumerate(drawn)]
    expected = []
    for key in {line[1] for line in lines}:
        mine = [line for line in lines if line[1] == key]
        kept = _newest(_newest_of_each_partition(mine))
        puts = sum(line[0] == "put" for line in mine) - (kept[0] == "put")
        expected.append((*kept[:5], puts))
    _check(lines, expected)


def _newest_of_each_partition(lines):
    partitions = {line[2] for line in lines}
    return [_newest([line for line in lines if line[2] == number]) for number in partitions]


def _newest(lines):
    newest = None
    for line in lines:
        version = Version("in", line[2], line[3], line[4])
        if newest is None or is_newer(version, Version("in", newest[2], newest[3], newest[4])):
            newest = line
    return newest


def test_records_of_another_topic_have_partitions_of_their_own():
    lines = [("put", b"a", 0, 900, 5, 0), ("cancel", b"a", 0, 1, 9, 0)]
    table = reshape(_table(lines), FULL, {"source_topic": pa.array(["in", "payments"])})
    (left,) = latest(table).to_pylist()
    assert (left["entry"], left["source_topic"], left["superseded"]) == ("cancel", "payments", 1)


def test_all_lines_of_a_key_that_needs_thought_are_kept():
    lines = [("put", b"a", 0, 1, 1, 0), ("put", b"a", 0, 2, 2, 0), ("cancel", b"a", 0, 3, 3, 0)]
    lines += [("put", b"b", 0, 4, 4, 0), ("put", b"b", 0, 5, 5, 0)]
    policies = [None, '{"same":{"policy":"keep"}}', None, '{"retrymax":3}', None]
    asked = {"source_topic": "in", "policy": pa.array(policies)}
    left = latest(reshape(_table(lines), FULL, asked)).to_pylist()
    assert [line["source_offset"] for line in left] == [1, 2, 3, 5]
