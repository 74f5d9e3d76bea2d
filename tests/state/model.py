"""What must become of every version, said without stores, lanes or batches of claims.

A version is *open* until its message leaves; then it is *on its way*, and either *out*, or
*refused* (a note says what comes next), or open again because the transaction never was. A command
acts on open versions only: what is on its way is past.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from state.row import Status

OPEN, ON_ITS_WAY, OUT, REFUSED, ENDED = "open", "on its way", "out", "refused", "ended"
LIVE = (OPEN, ON_ITS_WAY, REFUSED)
Name = tuple[int, int]  # partition and offset of the record


@dataclass
class Fate:
    key: bytes
    age: tuple[int, int, int]  # grows from older to newer: timestamp, partition, offset
    due: int
    state: str = OPEN
    ends: frozenset[Status] = frozenset()
    refusals: int = 0
    decided: int = 0  # of these, how many the state knows


@dataclass
class Model:
    attempts: int
    fates: dict[Name, Fate] = field(default_factory=dict)
    newest: dict[bytes, tuple[int, int, int]] = field(default_factory=dict)
    passed_over: Counter[Status] = field(default_factory=Counter)  # puts a batch never wrote
    late_cancels: int = 0

    def take(
        self, said: dict[bytes, list], decisions: list, is_stale: Callable[[Name], bool]
    ) -> None:
        """A batch is committed: its decisions, twice perhaps, and per key its records by age."""
        self.decide(decisions)
        for key, records in said.items():
            older = sum(record.is_put for record in records[:-1])
            (self._put if records[-1].is_put else self._cancel)(key, records[-1], older, is_stale)

    def decide(self, decisions: list[tuple[Name, int, int | None]]) -> None:
        """The state learns of refusals: which version, which attempt, when again (None: never)."""
        for name, attempt, again_at in decisions:
            fate = self.fates[name]
            if attempt <= fate.decided:
                continue
            assert fate.state == REFUSED
            fate.decided = attempt
            if again_at is None:
                self._end(fate, Status.DEAD)
            elif self._is_overtaken(fate):
                self._end(fate, Status.REPLACED)
            else:
                fate.state, fate.due = OPEN, again_at

    def leaves(self, name: Name, latest_instant: int) -> None:
        fate = self.fates[name]
        assert fate.state == OPEN, f"{name} is {fate.state} {set(fate.ends)} and goes out"
        assert fate.due <= latest_instant, f"{name} goes out early"
        fate.state = ON_ITS_WAY

    def is_out(self, name: Name) -> None:
        assert self.fates[name].state == ON_ITS_WAY
        self._end(self.fates[name], Status.DONE, state=OUT)

    def is_refused(self, name: Name, again_at: int | None) -> None:
        fate = self.fates[name]
        assert fate.state == ON_ITS_WAY
        fate.state, fate.refusals = REFUSED, fate.refusals + 1
        assert (again_at is None) == (fate.refusals == self.attempts)

    def never_left(self, name: Name) -> None:
        self.fates[name].state = OPEN

    def all_put_back(self) -> None:
        """Claims were put back: those with a newer command are closed, not scheduled again."""
        for fate in self.fates.values():
            if fate.state == OPEN and self._is_overtaken(fate):
                self._end(fate, Status.REPLACED)

    def _put(self, key: bytes, record, older: int, is_stale: Callable[[Name], bool]) -> None:
        self.passed_over[Status.REPLACED] += older
        fate = self.fates[record.name] = Fate(key, record.age, record.due)
        if self._is_overtaken(fate) and (self._live_since(fate) or is_stale(record.name)):
            self._end(fate, Status.REPLACED)
            return
        for other in self._open_ones(key, besides=fate):
            self._end(other, Status.REPLACED)
        self.newest[key] = record.age

    def _cancel(self, key: bytes, record, older: int, is_stale: Callable[[Name], bool]) -> None:
        found = self._open_ones(key)
        for fate in found:  # a put between it and the cancel may be said to have replaced it
            self._end(fate, Status.CANCELLED, *([Status.REPLACED] if older else []))
        if older:
            self.passed_over.update({Status.REPLACED: older - 1, Status.CANCELLED: 1})
        self.late_cancels += not (found or older)
        self.newest[key] = record.age

    def _open_ones(self, key: bytes, besides: Fate | None = None) -> list[Fate]:
        of_key = (fate for fate in self.fates.values() if fate.key == key and fate is not besides)
        return [fate for fate in of_key if fate.state == OPEN]

    def _live_since(self, fate: Fate) -> bool:
        """Whether a newer version is not closed: so long every store knows of it."""
        return any(
            other.key == fate.key and other.age > fate.age and other.state in LIVE
            for other in self.fates.values()
        )

    def _is_overtaken(self, fate: Fate) -> bool:
        return self.newest.get(fate.key, fate.age) > fate.age

    def _end(self, fate: Fate, *ends: Status, state: str = ENDED) -> None:
        fate.state, fate.ends = state, frozenset(ends)
