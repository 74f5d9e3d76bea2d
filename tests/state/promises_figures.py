"""What a store tells of itself between ticks."""

from build import A, B, C, cancel, every, order, outcome, put, reject

from state.row import OF_COMMAND


class Figures:
    """What a store tells of itself between ticks."""

    def test_figures_follow_the_ledger(self, subject, disturb):
        puts = [put(A, 0, due=5), put(B, 1, due=8), put(C, 2, due=9_000)]
        subject.commit(0, commands=puts)
        disturb()
        assert (subject.figures(7).pending, subject.figures(7).overdue) == (3, 1)
        subject.commit(1, commands=[put(B, 3, due=9)], until=6)
        disturb()
        assert (subject.figures(7).pending, subject.figures(7).overdue) == (3, 0)
        subject.commit(2, commands=[cancel(B, 4)], outcomes=[outcome(A, 0, "done")])
        disturb()
        assert subject.figures(7).pending == 1

    def test_figures_hold_what_a_repeat_adds_and_an_outcome_puts_back(self, subject, disturb):
        subject.commit(0, commands=[put(A, 0, due=5, policy=every(60, first=5))], until=6)
        disturb()
        assert subject.figures(6).pending == 2
        subject.commit(1, outcomes=[outcome(A, 0, "pending", due=20)])
        disturb()
        assert (subject.figures(21).pending, subject.figures(21).overdue) == (2, 1)

    def test_figures_leave_out_what_is_no_message(self, subject, disturb):
        replied = order(2, output_topic="replies", payload=b"done")
        subject.commit(0, commands=[put(A, 0, due=50), reject(1), replied], until=5)
        disturb()
        assert subject.figures().pending == 1
        answered = outcome(b"order 2", 2, "done", occurrence=OF_COMMAND)
        subject.commit(1, outcomes=[outcome(b"refused 1", 1, "dead"), answered])
        disturb()
        disturb()  # what the first fold leaves the second takes
        assert subject.figures().pending == 1
