"""What a micro-batch comes to for one identity that needs thought, record by record.

The pending message is what the state or the outbox holds, until a record of this batch has changed
it. A message that waits in the outbox is taken back at the moment of decision: what has left by
then is out, and a command finds nothing.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.commands import Command, Effect, version_text
from pipeline.control import Control
from pipeline.outbox.item import Item
from pipeline.outbox.outbox import Outbox
from state import row
from state.row import COMMANDS, PARKED_ALONE, Entry, Status
from state.rules.policy import Policy
from state.rules.repeat import following
from state.rules.same_key import Ignore, Standing, judge
from state.version import Version, is_newer

Row = dict[str, Any]

OLDER = "older"  # why a put is turned away that is older than what is pending
_VERSION = [field.name for field in row.VERSION_FIELDS]
_RECORD = [name for name in _VERSION if name != row.OCCURRENCE]


@dataclass(slots=True)
class Thought:
    """Takes the records of one identity, in order."""

    identity: bytes
    number: int  # its hash
    outbox: Outbox
    pending: list[Row]  # what the state holds: one, or some of a series
    live: Row | None = None  # the put or cancel of this batch that stands so far
    spares: bool = False  # it is a message that was moved: others of its series stay as they are
    puts: int = 0
    turned_away: list[Row] = field(default_factory=list)
    ended: list[Row] = field(default_factory=list)  # outcomes

    def put(self, line: Row) -> None:
        """Take a message, unless its policy says otherwise."""
        current = self._next()[0]
        if current is not None and not is_newer(version_of(line), version_of(current)):
            self._turn_away(line, OLDER)
            return
        standing = None if current is None else _standing(current)
        verdict = judge(standing, _standing(line), line[row.SOURCE_TIMESTAMP])
        if isinstance(verdict, Ignore):
            self._turn_away(line, verdict.reason)
            return
        self._stand(line | {row.DUE: verdict.due, row.POLICY: verdict.policy.to_json()})

    def cancel(self, line: Row) -> None:
        """Take a cancel that asks nothing."""
        self.live, self.spares = line, False

    def obey(self, line: Row, control: Control) -> Effect:
        """Carry a command out and return what it came to."""
        current = self._next()[0]
        if current is None or not is_newer(version_of(line), version_of(current)):
            return Effect.NOTHING_PENDING
        if control.if_version not in (None, _text(current)):
            return Effect.VERSION_DIFFERS
        if control.command is Command.CANCEL:
            return self._cancel(line)
        if control.command is Command.PAUSE:
            return self._pause(line)
        if control.command is Command.RESUME:
            return self._resume()
        return self._move(line, control)

    def commands(self) -> list[Row]:
        """Return what the store is told."""
        if self.live is None:
            return self.turned_away
        is_put = self.live[row.ENTRY] == Entry.PUT
        return [*self.turned_away, self.live | {row.SUPERSEDED: self.puts - is_put}]

    def _next(self) -> tuple[Row | None, Item | None]:
        """Return what goes out next, and its place in the outbox if it is there."""
        if self.live is not None:
            return (self.live if self.live[row.ENTRY] == Entry.PUT else None), None
        item = self.outbox.waiting_for(self.identity, self.number)
        if item is not None:
            return _row_of(item), item
        return min(self.pending, key=_instant, default=None), None

    def _turn_away(self, line: Row, reason: str) -> None:
        said = {row.ENTRY: Entry.IGNORED.value, row.REASON: reason, row.SUPERSEDED: 0}
        self.turned_away.append(line | said)

    def _stand(self, line: Row, *, spares: bool = False) -> None:
        self.live, self.spares = line | {row.ENTRY: Entry.PUT.value}, spares
        self.puts += 1

    def _cancel(self, line: Row) -> Effect:
        taken = self._take_back(line, Status.CANCELLED)
        if not (taken or self.pending or self.live):
            return Effect.NOTHING_PENDING  # it has just left
        nothing = dict.fromkeys(COMMANDS.names)
        kept = {name: line[name] for name in (*_RECORD, row.HASH, row.KEY, row.KIND)}
        self.cancel(nothing | kept | {row.ENTRY: Entry.CANCEL.value})
        return Effect.CANCELLED

    def _move(self, line: Row, control: Control) -> Effect:
        """Let what goes out next be due at another instant; what follows it stays as it was."""
        due = line[row.SOURCE_TIMESTAMP] if control.at is None else control.at
        while True:
            current, item = self._next()
            if current is None:
                return Effect.NOTHING_PENDING
            policy = _policy(current)
            if policy.expires is not None and policy.expires <= due:
                return Effect.AFTER_EXPIRY
            if item is None:
                break
            if self.outbox.take(item, self.number):  # else it has just left: look again
                self.ended.append(_outcome(current, Status.REPLACED, item.due))
                break
        content = {name: current.get(name) for name in COMMANDS.names}
        place = {name: line[name] for name in _RECORD}
        then = _with_rest(policy, current, self._baton(current))
        moved = {row.DUE: due, row.SCHEDULED: None, row.POLICY: then.to_json()}
        self._stand(content | place | moved, spares=self.spares or item is not None)
        return Effect.RESCHEDULED

    def _baton(self, current: Row) -> Row | None:
        """Return the pending message that carries the series on, if that is another one."""
        known = self.pending if self.live is None else []
        others = [each for each in known if version_of(each) != version_of(current)]
        return next((each for each in others if _policy(each).repeat is not None), None)

    def _pause(self, line: Row) -> Effect:
        if self.live is not None:
            at = self.live.get(row.SCHEDULED) or self.live[row.DUE]
            self.live |= {row.SCHEDULED: at, row.DUE: PARKED_ALONE}
        taken = self._take_back(line, Status.PENDING, PARKED_ALONE)
        for each in self.pending if self.live is None else []:
            self.ended.append(_outcome(each, Status.PENDING, PARKED_ALONE))
        self.pending = [each | {row.DUE: PARKED_ALONE} for each in (*self.pending, *taken)]
        return Effect.PAUSED if self.pending or self.live else Effect.NOTHING_PENDING

    def _resume(self) -> Effect:
        paused = [each for each in self.pending if each[row.DUE] == PARKED_ALONE]
        if self.live is not None and self.live[row.DUE] == PARKED_ALONE:
            self.live |= {row.DUE: self.live[row.SCHEDULED]}
        elif not paused:
            return Effect.NOT_PAUSED
        for each in paused:
            self._end(each, Status.PENDING, each[row.SCHEDULED])
        self.pending = [each | {row.DUE: _instant(each)} for each in self.pending]
        return Effect.RESUMED

    def _take_back(self, line: Row, status: Status, due: int | None = None) -> list[Row]:
        """Take all of the outbox that is older than a record, and return it."""
        taken: list[Row] = []
        while item := self.outbox.retract(self.identity, self.number, version_of(line)):
            taken.append(_row_of(item))
            self.ended.append(_outcome(taken[-1], status, due or item.due))
        return taken

    def _end(self, version: Row, status: Status, due: int) -> None:
        """Say how a version ends; what was said of it in this batch before counts no more."""
        name = version_of(version)
        self.ended = [each for each in self.ended if version_of(each) != name]
        self.ended.append(_outcome(version, status, due))


def version_of(line: Row) -> Version:
    """Return the record that made a line or a row."""
    return Version(
        line[row.SOURCE_TOPIC],
        line[row.SOURCE_PARTITION],
        line[row.SOURCE_OFFSET],
        line[row.SOURCE_TIMESTAMP],
        line.get(row.OCCURRENCE) or 0,
    )


def _text(line: Row) -> str:
    return version_text(line[row.SOURCE_PARTITION], line[row.SOURCE_OFFSET])


def _standing(line: Row) -> Standing:
    return Standing(line[row.DUE], _policy(line))


def _policy(line: Row) -> Policy:
    return Policy.from_json(line[row.POLICY])


def _with_rest(policy: Policy, moved: Row, baton: Row | None) -> Policy:
    """Return the policy of a message that was moved: it carries the rest of its series.

    That is the one which is pending after it, or the one that would have followed. A series that
    settles has ended.
    """
    if baton is not None:
        rest = _policy(baton)
        then = (_instant(baton), baton.get(row.OCCURRENCE) or 0)
        return replace(rest, expires=policy.expires, first=None, then=then)
    if policy.repeat is None:
        return replace(policy, first=None, missed=None)
    if policy.then is not None:  # it was moved before
        return policy
    at = _instant(moved)
    after = following(policy.repeat, at, moved.get(row.OCCURRENCE) or 0, now=at, miss_after=0)
    return policy.without_repeat() if after is None else replace(policy, then=after[:2])


def _instant(line: Row) -> int:
    """Return when a message was to go out, whether or not it is paused or tried again."""
    scheduled: int | None = line.get(row.SCHEDULED)
    return int(line[row.DUE]) if scheduled is None else scheduled


def _row_of(item: Item) -> Row:
    found: list[Row] = item.chunk.claims.slice(item.index, 1).to_pylist()
    return found[0]


def _outcome(line: Row, status: Status, due: int) -> Row:
    named = {name: line.get(name) for name in _VERSION}
    return {**named, row.STATUS: status.value, row.DUE: due}
