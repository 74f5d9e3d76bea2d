"""What the store and its fold need of whoever writes the tables."""

from typing import Protocol

import pyarrow as pa

from state.delta.layout import Layout

GONE = "gone"  # in the source of a merge: the row leaves ``schedules``


class Writer(Protocol):
    """Writes the changelog, a commit a tick."""

    def append(self, lines: pa.Table, seq: int) -> None:
        """Append one commit; StateError when somebody else has written since the last one."""

    def refresh(self) -> None:
        """Do what keeps appends quick; called in the background."""


class FoldWriter(Protocol):
    """Writes what a fold has worked out; each call is one commit."""

    def history_seq(self) -> int:
        """Return the commit up to which closed rows are in ``history``."""

    def add_history(self, rows: pa.Table, seq: int) -> None:
        """Append closed rows, as known after commit ``seq``."""

    def merge(self, source: pa.Table, buckets: list[str], seq: int, version: int) -> None:
        """Bring ``schedules`` to commit ``seq``; rows to change lie in ``buckets``.

        Refuse if the table is no longer at ``version``, from which all this was worked out: another
        fold, or somebody who joins files, would have its rows written twice.
        """

    def delete(self, layout: Layout, predicate: str) -> None:
        """Delete rows; nothing is committed when there are none."""

    def tidy(self, keep: int) -> None:
        """Join small files, and drop those that nobody has used for ``keep`` microseconds."""


def another_writer(path: str) -> str:
    """Return the sentence for a state that somebody else has written to."""
    return (
        f"another job writes the state at {path}; stop it, or give this job a state.delta.path "
        "of its own"
    )


def cannot_be_written(path: str, error: Exception) -> str:
    """Return the sentence for a commit that failed: no space, no permission, storage away."""
    return (
        f"the state at state.delta.path {path} cannot be written ({error}); free space or mend "
        "access, then start again: nothing is lost, and nothing goes out twice"
    )
