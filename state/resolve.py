"""Says what became of the versions of one identity, from the lines written about it, in order.

Every reader of the state (a fold, a view, the store in memory) comes to its answer through
``resolve``. It looks at light lines only: what a row carries is found again by its reference.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from state.row import LIVE, Entry, Kind, Status
from state.version import Coordinates


class Line(NamedTuple):
    """One line of the changelog without its content.

    ``superseded`` is set on puts and cancels, and on a claim that is a put as well; ``skipped`` on
    a repeat, and on a claim that is one as well. A put that came too late, or was turned
    away, bears the status replaced, and so does a cancel older than what it would withdraw.
    """

    entry: str
    coordinates: Coordinates
    kind: str | None
    status: str
    due: int | None
    receipt: int | None
    claim: int | None
    superseded: int | None
    skipped: int | None
    seq: int
    batch: int
    changed_at: int
    ref: int


@dataclass(slots=True)
class Known:
    """A version as known so far; ``content`` and ``outcome`` refer to the rows that hold them."""

    coordinates: Coordinates
    kind: str
    status: Status
    due: int
    claim: int | None
    unsure: bool  # done, with the receipt unknown
    content: int
    outcome: int | None
    seq: int
    batch: int
    changed_at: int
    corrects: bool = False  # a row closed before the known ones says otherwise and is outdated


@dataclass(slots=True)
class Counts:
    """What the lines add to the ledger; only messages count, rejections have their own figure."""

    accepted: int = 0
    rejected: int = 0
    late_cancels: int = 0
    missed: int = 0
    ends: Counter[str] = field(default_factory=Counter)

    def move(self, kind: str, before: str | None, after: str) -> None:
        """Count a version's way from one status to the next."""
        if kind != Kind.MESSAGE:
            return
        if before is not None:
            self.ends[before] -= 1
        self.ends[after] += 1

    def copy(self) -> "Counts":
        """Return counts that may be added to without changing these."""
        return replace(self, ends=Counter(self.ends))


def resolve(known: dict[Coordinates, Known], lines: Iterable[Line], counts: Counts) -> None:
    """Bring the versions of one identity up to date with ``lines`` and count what happened."""
    retracted = -1  # the last commit in which an outcome cancelled a version
    for line in lines:
        if line.entry == Entry.OUTCOME:
            if _end(known, line, counts) and line.status == Status.CANCELLED:
                retracted = line.seq
        elif line.entry == Entry.CANCEL:
            _cancel(known, line, counts, retracted == line.seq)
        elif line.entry == Entry.CLAIM:
            _claim(known, line, counts)
        elif line.entry == Entry.REPEAT:
            _repeat(known, line, counts)
        else:
            _put(known, line, counts)


def _put(known: dict[Coordinates, Known], line: Line, counts: Counts) -> None:
    kind = line.kind or Kind.MESSAGE
    if kind == Kind.MESSAGE:
        older = line.superseded or 0
        counts.accepted += 1 + older
        counts.ends[Status.REPLACED] += older
    counts.rejected += kind == Kind.REJECTION
    at_once = (Status.REPLACED, Status.DONE)  # it had no effect, or is but an order to remember
    status = Status(line.status) if line.status in at_once else Status.PENDING
    if status is Status.PENDING:
        _close_pending(known, Status.REPLACED, line, counts)
    counts.move(kind, None, status)
    known[line.coordinates] = _version(line, kind, status)


def _claim(known: dict[Coordinates, Known], line: Line, counts: Counts) -> None:
    if line.superseded is not None:
        _put(known, line, counts)
    elif line.skipped is not None:
        _repeat(known, line, counts)
    version = known.get(line.coordinates)
    if version is None or version.status is not Status.PENDING:
        return
    _change(version, Status.CLAIMED, line, counts)
    version.claim, version.content, version.outcome = line.claim, line.ref, None


def _repeat(known: dict[Coordinates, Known], line: Line, counts: Counts) -> None:
    """Add an occurrence; those before it that are pending again stay so."""
    kind = line.kind or Kind.MESSAGE
    counts.accepted += 1
    counts.missed += line.skipped or 0
    counts.move(kind, None, Status.PENDING)
    known[line.coordinates] = _version(line, kind, Status.PENDING)


def _cancel(known: dict[Coordinates, Known], line: Line, counts: Counts, retracted: bool) -> None:
    older = line.superseded or 0
    counts.accepted += older
    if line.status == Status.REPLACED:
        counts.ends[Status.REPLACED] += older
        counts.late_cancels += 1
        return
    if older:
        # The puts dropped from the batch stood between: the first replaced what was pending, the
        # last is what this cancel withdrew.
        _close_pending(known, Status.REPLACED, line, counts)
        counts.ends[Status.REPLACED] += older - 1
        counts.ends[Status.CANCELLED] += 1
    elif not _close_pending(known, Status.CANCELLED, line, counts) and not retracted:
        counts.late_cancels += 1


def _end(known: dict[Coordinates, Known], line: Line, counts: Counts) -> bool:
    version = known.get(line.coordinates)
    if version is None:
        # Only a version closed as done, receipt unknown, is named after it has left the live rows.
        kind = line.kind or Kind.MESSAGE
        counts.move(kind, Status.DONE, line.status)
        known[line.coordinates] = _version(line, kind, Status(line.status))
        known[line.coordinates].corrects = True
        return True
    if not may_act(version, line.status):
        return False
    _change(version, Status(line.status), line, counts)
    version.unsure = version.status is Status.DONE and line.receipt is None
    if version.status is Status.PENDING:
        version.claim, version.content, version.outcome = None, line.ref, None
        version.due = version.due if line.due is None else line.due
    else:
        version.outcome = line.ref
    return True


def may_act(version: Known, status: str) -> bool:
    """Tell whether an outcome with this status would change the version."""
    return version.status in LIVE or (version.unsure and status != Status.DONE)


def _close_pending(
    known: dict[Coordinates, Known], status: Status, line: Line, counts: Counts
) -> bool:
    pending = [v for v in known.values() if v.status is Status.PENDING]
    for version in pending:
        _change(version, status, line, counts)
    return bool(pending)


def _change(version: Known, status: Status, line: Line, counts: Counts) -> None:
    counts.move(version.kind, version.status, status)
    version.status = status
    version.seq, version.batch, version.changed_at = line.seq, line.batch, line.changed_at


def _version(line: Line, kind: str, status: Status) -> Known:
    return Known(
        coordinates=line.coordinates,
        kind=kind,
        status=status,
        due=line.due if line.due is not None else 0,
        claim=None if status is Status.PENDING else line.claim,
        unsure=status is Status.DONE and line.receipt is None,
        content=line.ref,
        outcome=None,
        seq=line.seq,
        batch=line.batch,
        changed_at=line.changed_at,
    )
