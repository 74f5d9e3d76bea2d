"""What became of a version follows from its lines alone."""

from state.resolve import Counts, Line, resolve

A, B = ("in", 0, 1, 0), ("in", 0, 2, 0)


def line(entry, version, seq, ref=0, **more):
    given = {
        "kind": "message",
        "status": "pending",
        "due": 10,
        "receipt": None,
        "claim": None,
        "superseded": 0 if entry in ("put", "cancel") else None,
        "skipped": 0 if entry == "repeat" else None,
        "batch": seq,
        "changed_at": seq * 100,
    } | more
    return Line(entry=entry, coordinates=version, seq=seq, ref=ref, **given)


def resolved(*lines):
    known, counts = {}, Counts()
    resolve(known, lines, counts)
    return known, counts


def test_lines_taken_one_by_one_or_together_come_to_the_same():
    lines = [
        line("put", A, 1, ref=1),
        line("claim", A, 2, ref=2, status="claimed", claim=2),
        line("put", B, 3, ref=3),
        line("outcome", A, 4, ref=4, status="done", receipt=7),
        line("cancel", ("in", 0, 3, 0), 5, status="cancelled"),
    ]
    together, counts = resolved(*lines)
    known, one_by_one = {}, Counts()
    for each in lines:
        resolve(known, [each], one_by_one)
    assert known == together
    assert one_by_one == counts
    assert (together[A].status, together[A].content, together[A].outcome) == ("done", 2, 4)
    assert (together[B].status, together[B].changed_at) == ("cancelled", 500)


def test_a_claim_that_is_a_put_as_well_replaces_what_was_pending():
    known, counts = resolved(
        line("put", A, 1),
        line("claim", B, 2, ref=5, status="claimed", claim=2, superseded=1),
    )
    assert (known[A].status, known[B].status, known[B].content) == ("replaced", "claimed", 5)
    assert counts.accepted == 3
    assert +counts.ends == {"replaced": 2, "claimed": 1}


def test_a_claim_of_a_version_that_is_not_pending_does_nothing():
    known, _ = resolved(
        line("put", A, 1),
        line("outcome", A, 2, status="expired"),
        line("claim", A, 3, status="claimed", claim=3),
    )
    assert known[A].status == "expired"


def test_an_outcome_of_a_version_no_longer_known_corrects_one_that_was_done():
    known, counts = resolved(line("outcome", A, 9, ref=4, status="pending"))
    assert (known[A].status, known[A].corrects, known[A].content) == ("pending", True, 4)
    assert counts.ends == {"done": -1, "pending": 1}


def test_a_cancel_after_a_retraction_in_an_earlier_commit_is_a_miss():
    _, same = resolved(
        line("put", A, 1),
        line("claim", A, 2, status="claimed", claim=2),
        line("outcome", A, 3, status="cancelled"),
        line("cancel", B, 3, status="cancelled"),
    )
    _, later = resolved(
        line("put", A, 1),
        line("claim", A, 2, status="claimed", claim=2),
        line("outcome", A, 3, status="cancelled"),
        line("cancel", B, 4, status="cancelled"),
    )
    assert (same.late_cancels, later.late_cancels) == (0, 1)


def test_rejections_never_enter_the_ledger():
    known, counts = resolved(
        line("reject", A, 1, kind="rejection", superseded=0),
        line("claim", A, 2, kind="rejection", status="claimed", claim=2),
        line("outcome", A, 3, status="done", receipt=1),
    )
    assert known[A].status == "done"
    assert (counts.accepted, counts.rejected, +counts.ends) == (0, 1, {})
