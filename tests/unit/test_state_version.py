"""The newer of two versions is told by offset on one partition and by timestamp across them."""

import pytest

from state.admission import HighMarks, not_taken, raise_marks
from state.row import COMMANDS
from state.version import Version, is_newer


@pytest.mark.parametrize(
    ("candidate", "known", "newer"),
    [
        (Version("t", 0, 5, 10), None, True),
        (Version("t", 0, 5, 10), Version("t", 0, 5, 10), False),
        (Version("t", 0, 6, 1), Version("t", 0, 5, 10), True),
        (Version("t", 0, 4, 99), Version("t", 0, 5, 10), False),
        (Version("t", 1, 0, 11), Version("t", 0, 5, 10), True),
        (Version("t", 1, 9, 9), Version("t", 0, 5, 10), False),
        (Version("t", 1, 0, 10), Version("t", 0, 5, 10), True),
        (Version("t", 0, 5, 10), Version("t", 1, 0, 10), False),
        (Version("t", 0, 5, 10, 3), Version("t", 0, 5, 10, 2), False),
        (Version("t", 0, 6, 10, 0), Version("t", 0, 5, 10, 7), True),
    ],
)
def test_which_is_newer(candidate, known, newer):
    assert is_newer(candidate, known) is newer


def test_each_occurrence_of_a_record_has_a_name_of_its_own():
    assert Version("t", 0, 5, 10, 3).coordinates == ("t", 0, 5, 3)
    assert Version("t", 0, 5, 10).coordinates == ("t", 0, 5, 0)


def commands(*places):
    rows = [
        {"source_topic": topic, "source_partition": partition, "source_offset": offset}
        for topic, partition, offset in places
    ]
    return COMMANDS.empty_table().from_pylist(rows, schema=COMMANDS)


def test_records_at_or_below_the_mark_of_their_own_partition_are_left_out():
    taken = HighMarks({"t": {"0": 5, "1": 2}})
    kept = not_taken(commands(("t", 0, 5), ("t", 0, 6), ("t", 1, 3), ("u", 0, 0)), taken)
    assert kept.column("source_offset").to_pylist() == [6, 3, 0]


def test_marks_only_grow_and_survive_being_written_down():
    marks = HighMarks({"t": {"0": 5}})
    raise_marks(marks, commands(("t", 0, 3), ("t", 7, 1), ("t", 7, 4)), "source_offset")
    assert marks.as_dict() == {"t": {"0": 5, "7": 4}}
    assert HighMarks(marks.as_dict()).of("t", 7) == 4
    assert marks.elsewhere("t", 0) == 4
    assert marks.elsewhere("t", 7) == 5
    assert marks.elsewhere("u", 0) == -1
