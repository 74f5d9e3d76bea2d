"""Knows the newest version of each identity that was spoken of lately, and finds older ones.

A command is compared with the newest version known of its identity. Those of the last two folds are
in memory. One that is older can only be newer than a command if it came from another partition with
a later timestamp; only such a command is *suspect* and looked up in ``schedules``.
"""

from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from state.admission import HighMarks, Marks, versions_of
from state.delta.snapshot import Snapshot
from state.row import (
    KIND,
    STATUS,
    SUPERSEDED,
    Kind,
    Status,
)
from state.version import Version, is_newer

# Returns what ``schedules`` holds of keys, as of a commit or a later one.
Live = Callable[[Sequence[bytes], int], pa.Table]


class Recents:
    """The newest version per identity, for the commands of one state."""

    def __init__(self, live: Live, stamps: Marks, folded: int) -> None:
        self._live = live
        self._folded = folded  # what is not in memory is in ``schedules`` as of this commit
        self._new: dict[bytes, Version] = {}
        self._old: dict[bytes, Version] = {}
        self._turned_at = 0  # the newest commit when ``_old`` was put aside
        self._left = HighMarks(stamps)

    def known(self, commands: Sequence[tuple[bytes, Version]]) -> list[Version | None]:
        """Return the newest version known of each command's identity."""
        identities = [identity for identity, _ in commands]
        halves = zip(map(self._new.get, identities), map(self._old.get, identities), strict=True)
        found = [new or old for new, old in halves]
        suspects = self._suspects(
            [command for command, recent in zip(commands, found, strict=True) if recent is None]
        )
        if not suspects:
            return found
        looked_up = self._look_up(suspects)
        return [
            recent or looked_up.get(identity)
            for (identity, _), recent in zip(commands, found, strict=True)
        ]

    def add(self, commands: Iterable[tuple[bytes, Version]]) -> None:
        """Take note of commands that were the newest of their identity."""
        self._new.update(commands)

    def folded(self, upto: int, newest: int) -> None:
        """Let go of what a fold up to ``upto`` has brought to ``schedules`` for good."""
        self._folded = upto
        if upto < self._turned_at:
            return
        for version in self._old.values():
            self._left.raise_to(version.topic, version.partition, version.timestamp)
        self._old, self._new, self._turned_at = self._new, {}, newest

    def _suspects(self, commands: Sequence[tuple[bytes, Version]]) -> set[bytes]:
        highest = self._left.highest()
        if all(version.timestamp > highest for _, version in commands):
            return set()  # as nearly always, and told without looking where each one is from
        places = {(version.topic, version.partition) for _, version in commands}
        latest = {place: self._left.elsewhere(*place) for place in places}
        return {
            identity
            for identity, version in commands
            if latest[version.topic, version.partition] >= version.timestamp
        }

    def _look_up(self, identities: set[bytes]) -> dict[bytes, Version]:
        newest: dict[bytes, Version] = {}
        for identity, version in versions_of(self._live(sorted(identities), self._folded)):
            if is_newer(version, newest.get(identity)):
                newest[identity] = version
        return newest


def recents_of(live: Live, snapshot: Snapshot) -> Recents:
    """Gather the newest versions from the changelog's tail."""
    recents = Recents(live, snapshot.mark.stamps, snapshot.mark.seq)
    recents.add(versions_of(newest_commands(snapshot.tail)))
    return recents


def newest_commands(lines: pa.Table) -> pa.Table:
    """Keep the lines of commands that were the newest of their identity when they came."""
    # Masks, not an expression: those start an engine, which takes longer than a whole tick's lines.
    is_command = pc.is_valid(lines.column(SUPERSEDED))
    is_newest = pc.not_equal(lines.column(STATUS), Status.REPLACED.value)
    is_message = pc.equal(lines.column(KIND), Kind.MESSAGE.value)
    return lines.filter(pc.and_(is_command, pc.and_(is_newest, is_message)))
