"""Sees to it that the tables stay quick and small while a job runs: folds, checkpoints, purges."""

import logging
import threading
from typing import Protocol

from state.clock import MINUTE, SECOND
from state.delta.folded import Folded
from state.delta.recall import Commit, Mind
from state.delta.writer import Writer
from state.figures import Fold
from state.settings import DeltaSettings

_REFRESH_EVERY = 50  # commits; an append gets slower with each one since the last checkpoint
_TIDY_EVERY = 12  # folds
_PUT_OFF = 5  # times the lines or the age that make it time for a fold, while others are busy
_BACKOFF = 10 * SECOND
_LONGEST_BACKOFF = 10 * MINUTE

log = logging.getLogger(__name__)


class FoldFailed(Exception):
    """A fold did not come to its end; the message says why."""


class FoldRunner(Protocol):
    """Runs one fold at a time, away from the ticks."""

    def start(self, now: int, tidy: bool) -> None:
        """Begin a fold and return at once."""

    def poll(self) -> Folded | None:
        """Return what a fold did once it has ended; FoldFailed when it failed."""

    def run(self, now: int, tidy: bool) -> Folded:
        """Fold and wait for it."""

    def close(self) -> None:
        """End a fold that is still at work."""


class Upkeep:
    """Decides when something is to be done; none of its calls waits, but for ``fold_now``."""

    def __init__(self, settings: DeltaSettings, runner: FoldRunner) -> None:
        self._settings = settings
        self._runner = runner
        self._folding = False
        self._folds = 0
        self.last_fold: Fold | None = None
        self._failures = 0
        self._not_before = 0
        self._refreshed_at = 0
        self._refresher: threading.Thread | None = None

    def go_on(self, mind: Mind, writer: Writer, now: int, busy: bool = False) -> None:
        """Pick up what has ended and begin what is due; a fold waits while others are ``busy``."""
        self._pick_up(mind, now)
        if not self._folding and now >= self._not_before and self._is_time(mind, now, busy):
            self._folding = True
            self._runner.start(now, tidy=self._folds % _TIDY_EVERY == 0)
        if mind.seq - self._refreshed_at >= _REFRESH_EVERY:
            self._refresh(writer, mind.seq)

    def fold_now(self, mind: Mind, now: int) -> None:
        """Fold and wait for it."""
        self._folded(self._runner.run(now, tidy=False), mind, now)

    def close(self) -> None:
        """Wait for what is short, end what is not."""
        if self._refresher is not None:
            self._refresher.join()
        self._runner.close()

    def _is_time(self, mind: Mind, now: int, busy: bool) -> bool:
        foldable = [commit for commit in mind.unfolded if _may_fold(commit, mind)]
        if not foldable:
            return False
        lines, age = sum(commit.lines for commit in foldable), now - foldable[0].at
        patience = _PUT_OFF if busy else 1
        rows, longest = self._settings.fold_rows * patience, self._settings.fold_age * patience
        return lines >= rows or age >= longest

    def _pick_up(self, mind: Mind, now: int) -> None:
        if not self._folding:
            return
        try:
            folded = self._runner.poll()
        except FoldFailed as failure:
            self._folding = False
            self._failures += 1
            wait = min(_BACKOFF * 2 ** (self._failures - 1), _LONGEST_BACKOFF)
            self._not_before = now + wait
            log.warning("a fold failed and is tried again in %d s: %s", wait // SECOND, failure)
            return
        if folded is not None:
            self._folding, self._failures = False, 0
            self._folded(folded, mind, now)

    def _folded(self, folded: Folded, mind: Mind, now: int) -> None:
        self._folds += 1
        self.last_fold = Fold(self._folds, now, folded.seconds)
        mind.folded(folded.mark)

    def _refresh(self, writer: Writer, seq: int) -> None:
        if self._refresher is not None and self._refresher.is_alive():
            return
        self._refreshed_at = seq
        self._refresher = threading.Thread(
            target=_refresh_quietly, args=(writer,), name="checkpoint", daemon=True
        )
        self._refresher.start()


def _may_fold(commit: Commit, mind: Mind) -> bool:
    """Tell whether a commit need not stay in the changelog; see Snapshot.foldable."""
    return commit.seq < mind.seq if mind.last_batch < 0 else commit.batch != mind.last_batch


def _refresh_quietly(writer: Writer) -> None:
    try:
        writer.refresh()
    except Exception:
        log.warning("a checkpoint of the changelog could not be written", exc_info=True)
