"""What a command moved and the command itself come of one record, and are two rows."""

from build import A, order, outcome, put, receipt, tick

from state.row import OF_COMMAND, Kind


class Moved:
    """What a command moved and the command itself come of one record, and are two rows."""

    def test_a_message_that_a_command_moved_keeps_its_content(self, subject, disturb):
        header = {"key": "h", "value": b"1"}
        subject.commit(0, commands=[put(A, 0, due=50)])
        disturb()
        subject.commit(1, commands=[put(A, 1, due=60, headers=[header]), order(1, about=A)])
        disturb()
        command, moved = _of_record(subject, 1)
        assert (command["payload"], command["reason"]) == (None, "paused")
        assert (moved["payload"], moved["output_key"]) == (b"payload of a at 1", A)
        assert moved["headers"] == [header]

    def test_a_message_that_is_released_after_it_was_moved_leaves_its_command_alone(
        self, subject, disturb
    ):
        subject.commit(0, commands=[put(A, 1, due=5), order(1, about=A)])
        disturb()
        subject.commit(1, until=9)
        disturb()
        subject.commit(2, outcomes=[outcome(A, 1, "done", **receipt())])
        disturb()
        command, moved = _of_record(subject, 1)
        assert (command["reason"], command["published_offset"]) == ("paused", None)
        assert (moved["payload"], moved["published_offset"]) == (b"payload of a at 1", 77)

    def test_a_message_that_was_moved_and_the_reply_end_each_for_itself(self, subject, disturb):
        reply = order(1, about=A, output_topic="replies", payload=b"well")
        subject.commit(0, commands=[put(A, 1, due=5), reply])
        disturb()
        claims = subject.store.commit(tick(1, until=9))
        assert sorted(claims.column("payload").to_pylist()) == [b"payload of a at 1", b"well"]
        disturb()
        ends = [
            outcome(A, 1, "done", **receipt(offset=7)),
            outcome(b"order 1", 1, "done", occurrence=OF_COMMAND, **receipt(offset=8)),
        ]
        subject.commit(2, outcomes=ends)
        disturb()
        command, moved = _of_record(subject, 1)
        assert (command["status"], command["published_offset"]) == ("done", 8)
        assert (moved["status"], moved["published_offset"]) == ("done", 7)
        assert subject.store.unsettled().num_rows == 0


def _of_record(subject, offset):
    rows = subject.inspector.versions(A).to_pylist()
    found = {row["kind"]: row for row in rows if row["source_offset"] == offset}
    return found[Kind.COMMAND], found[Kind.MESSAGE]
