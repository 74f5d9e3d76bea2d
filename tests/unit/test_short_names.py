"""A short name stands for one version and no other, whichever way it was asked for."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from state.delta.short_names import ShortNames
from state.row import OUTCOMES
from state.version import Coordinates

BOUNDS = [0, 1, (1 << 46) - 1, 1 << 46, (1 << 46) + 1, (1 << 63) - 1]
versions = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "a-b"]),
        st.integers(0, 3),
        st.sampled_from(BOUNDS) | st.integers(0, 5),
        st.sampled_from([0, 0, 1, 2**31 - 1]),
    ),
    max_size=20,
)


def table(named: list[Coordinates]) -> pa.Table:
    columns = list(zip(*named, strict=True)) if named else [()] * 4
    topic, partition, offset, occurrence = columns
    known = {
        "source_topic": topic,
        "source_partition": partition,
        "source_offset": offset,
        "occurrence": [each or None for each in occurrence],
    }
    return pa.table(
        {name: pa.array(column, OUTCOMES.field(name).type) for name, column in known.items()}
    )


@given(versions, versions)
def test_two_versions_have_one_name_only_if_they_are_the_same(
    first: list[Coordinates], second: list[Coordinates]
) -> None:
    names = ShortNames()
    given_names = [*names.of(table(first)), *names.of(pa.concat_tables([table(second)] * 2))]
    of = [*first, *second, *second]
    assert given_names == [names.of_one(each) for each in of]
    assert len(set(given_names)) == len(set(of))


def test_a_name_is_short_where_there_is_room() -> None:
    names = ShortNames()
    (short,) = names.of(table([("a", 0, 5, 0)]))
    assert isinstance(short, int)
    assert names.of(table([("a", 0, 5, 7)])) == [("a", 0, 5, 7)]
    assert names.of(table([("a", 0, 1 << 46, 0)])) == [("a", 0, 1 << 46, 0)]
    assert names.of(table([])) == []
