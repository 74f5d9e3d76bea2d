"""Follows one key through a run of its events, by the rule of each event for its key.

The run may be cut into batches anywhere: what a fold returns as ``held`` is all that the next one
needs, and of the pending event it needs only what its row says. A record that comes again changes
nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from state.rules.same_key import Ignore, Ignored, Standing, judge
from state.version import Version, is_newer


@dataclass(frozen=True, slots=True)
class Event:
    """One record of the key: an event that schedules, or one that cancels (``standing`` None)."""

    version: Version
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class Held:
    """What is known of a key between two events.

    ``newest`` is the last record that changed something, a cancel too; an event that was ignored
    did not. ``read`` has the highest record of each partition. Whoever sorts out records read
    before, as the stores do, may leave it empty.
    """

    pending: Event | None = None
    newest: Version | None = None
    read: tuple[Version, ...] = ()


@dataclass(slots=True)
class Folded:
    """What came of a run: what is held now, and the records that are not pending.

    A record that is older than one of another partition is superseded when it comes.
    """

    held: Held
    ignored: list[tuple[Version, Ignored]] = field(default_factory=list)
    superseded: list[Version] = field(default_factory=list)
    withdrawn: list[Version] = field(default_factory=list)  # by a cancel
    idle: list[Version] = field(default_factory=list)  # cancels that found nothing, or were late

    @property
    def survivor(self) -> Event | None:
        """The event that is pending in the end, with the due and the policy it has now."""
        return self.held.pending


def hold(pending: Event | None) -> Held:
    """Return what is known of a key of which there is only the pending event, or nothing."""
    if pending is None:
        return Held()
    return Held(pending, pending.version, (pending.version,))


def fold_same_key(held: Held, events: Iterable[Event]) -> Folded:
    """Let ``events`` come one after the other, in the order in which they were read."""
    folded = Folded(held)
    for event in events:
        _come(folded, event)
    return folded


def _come(folded: Folded, event: Event) -> None:
    held, version = folded.held, event.version
    if any(_is_read(version, known) for known in held.read):
        return
    others = tuple(known for known in held.read if _place(known) != _place(version))
    folded.held = Held(held.pending, held.newest, (*others, version))
    if not is_newer(version, held.newest):
        (folded.idle if event.standing is None else folded.superseded).append(version)
    elif event.standing is None:
        _cancel(folded, version)
    else:
        _put(folded, version, event.standing)


def _place(version: Version) -> tuple[str, int]:
    return version.topic, version.partition


def _is_read(version: Version, known: Version) -> bool:
    return _place(version) == _place(known) and version.offset <= known.offset


def _cancel(folded: Folded, version: Version) -> None:
    pending = folded.held.pending
    if pending is None:
        folded.idle.append(version)
    else:
        folded.withdrawn.append(pending.version)
    folded.held = Held(None, version, folded.held.read)


def _put(folded: Folded, version: Version, new: Standing) -> None:
    pending = folded.held.pending
    verdict = judge(pending.standing if pending else None, new, version.timestamp)
    if isinstance(verdict, Ignore):
        folded.ignored.append((version, verdict.reason))
        return
    if pending is not None:
        folded.superseded.append(pending.version)
    event = Event(version, Standing(verdict.due, verdict.policy))
    folded.held = Held(event, version, folded.held.read)
