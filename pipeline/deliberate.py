"""Takes the lines of a micro-batch that need thought to what the store is told of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from pipeline.audit_records import audit_record
from pipeline.commands import Command, Effect, Scope
from pipeline.control import Control
from pipeline.outbox.outbox import Outbox
from pipeline.outbox.report import ended
from pipeline.raw import CONTROL
from pipeline.thought import Row, Thought, version_of
from state import row
from state.pausing import Paused
from state.row import COMMANDS, OUTCOMES, Entry, Status
from state.store import Store

_MOVES = (Command.RESCHEDULE, Command.SEND_NOW)


@dataclass(slots=True)
class Decided:
    """What came of it."""

    paused: Paused
    commands: list[Row] = field(default_factory=list)
    outcomes: list[Row] = field(default_factory=list)
    spared: set[bytes] = field(default_factory=set)  # of whose series only one message was moved
    taken_back: list[pa.Table] = field(default_factory=list)

    def command_table(self) -> pa.Table:
        """Return what the store is told, in its schema."""
        return pa.Table.from_pylist(self.commands, schema=COMMANDS)

    def outcome_tables(self) -> list[pa.Table]:
        """Return how versions end, or are put back."""
        return [pa.Table.from_pylist(self.outcomes, schema=OUTCOMES), *self.taken_back]


def deliberate(special: pa.Table, store: Store, outbox: Outbox, now: int) -> Decided:
    """Decide on all lines, those of one identity in the order in which they were written."""
    decided = Decided(store.paused)
    by_identity: defaultdict[bytes, list[Row]] = defaultdict(list)
    of_topics: list[tuple[Row, Control]] = []
    for line in in_order(special.to_pylist()):
        control = _control(line)
        if control is not None and control.scope is not Scope.KEY:
            of_topics.append((line, control))
        else:
            by_identity[line[row.IDENTITY]].append(line)
    pending = _pending(by_identity, store)
    for identity, lines in by_identity.items():
        thought = Thought(identity, lines[0][row.HASH], outbox, pending[identity])
        _think(thought, lines, decided, now)
    for line, control in of_topics:  # last: a key's commands look for messages in the outbox
        _of_topics(line, control, outbox, decided, now)
    return decided


def in_order(lines: Sequence[Row]) -> list[Row]:
    """Sort by time; on one partition by offset, whatever the timestamps there say."""
    latest: defaultdict[tuple[str, int], int] = defaultdict(int)
    keyed = []
    for line in sorted(lines, key=lambda each: version_of(each)[:3]):
        topic, partition, offset, timestamp, _ = version_of(line)
        latest[topic, partition] = max(latest[topic, partition], timestamp)
        keyed.append(((latest[topic, partition], topic, partition, offset), line))
    return [line for _, line in sorted(keyed, key=lambda pair: pair[0])]


def _think(thought: Thought, lines: list[Row], decided: Decided, now: int) -> None:
    for line in lines:
        control = _control(line)
        if control is not None:
            effect = thought.obey(line, control)
            decided.commands.append(audit_record(line, control, effect, now))
        elif line[row.ENTRY] == Entry.CANCEL:
            thought.cancel(line)
        else:
            thought.put(line)
    decided.commands.extend(thought.commands())
    decided.outcomes.extend(thought.ended)
    if thought.spares:
        decided.spared.add(thought.identity)


def _of_topics(line: Row, control: Control, outbox: Outbox, decided: Decided, now: int) -> None:
    """Pause or resume all messages for a topic, or all there are."""
    before = decided.paused
    decided.paused = _changed(before, control)
    effect = Effect.PAUSED if control.command is Command.PAUSE else Effect.RESUMED
    if control.command is Command.RESUME and decided.paused == before:
        effect = Effect.NOT_PAUSED
    if control.command is Command.PAUSE:
        # Put back as they are: the same commit would claim them, and sets them aside instead.
        taken = outbox.take_back(decided.paused.holds)
        decided.taken_back.append(ended(taken, Status.PENDING))
    decided.commands.append(audit_record(line, control, effect, now))


def _changed(paused: Paused, control: Control) -> Paused:
    pauses = control.command is Command.PAUSE
    if control.scope is Scope.ALL:
        return Paused(pauses, paused.topics if pauses else frozenset())
    topic = {control.topic or ""}
    topics = paused.topics | topic if pauses else paused.topics - topic
    return Paused(paused.everything, topics)


def _pending(by_identity: dict[bytes, list[Row]], store: Store) -> dict[bytes, list[Row]]:
    """Return what is pending; with its content only where that is needed."""
    moved = {identity for identity, lines in by_identity.items() if _is_moved(lines)}
    found: defaultdict[bytes, list[Row]] = defaultdict(list)
    for identities, whole in ((moved, True), (by_identity.keys() - moved, False)):
        if identities:
            for each in store.pending(sorted(identities), whole).to_pylist():
                found[each[row.IDENTITY]].append(each)
    return found


def _is_moved(lines: list[Row]) -> bool:
    controls = filter(None, map(_control, lines))
    return any(control.command in _MOVES for control in controls)


def _control(line: Row) -> Control | None:
    return Control.from_json(line[row.POLICY]) if line[row.ENTRY] == CONTROL else None
