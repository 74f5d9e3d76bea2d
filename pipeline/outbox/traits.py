"""Tells of a whole hand-over whether any of its messages is special; nearly always none is."""

from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from state import row
from state.row import Kind

SERIES = "series"  # the word in a policy that says: this message repeats


class Traits:
    """What is found out when it is asked for the first time, in columns.

    Apart from the chunk: an object that remembers answers is slower to read from then on.
    """

    def __init__(self, claims: pa.Table) -> None:
        self._claims = claims

    @cached_property
    def topics(self) -> list[str]:
        """The output topics, each once."""
        names: list[str] = pc.unique(self._claims[row.OUTPUT_TOPIC]).to_pylist()
        return names

    @cached_property
    def sources(self) -> list[str]:
        """The topics that the schedules came by, each once."""
        names: list[str] = pc.unique(self._claims[row.SOURCE_TOPIC]).to_pylist()
        return names

    @cached_property
    def are_messages(self) -> bool:
        """Whether all is what somebody scheduled: nothing that the job itself has to say."""
        return not _any(pc.not_equal(self._claims[row.KIND], Kind.MESSAGE.value))

    @cached_property
    def was_moved(self) -> bool:
        """Whether a message is due at another instant than was asked for."""
        return _any(pc.not_equal(self._claims[row.DUE], self._claims[row.SCHEDULED]))

    @cached_property
    def may_expire(self) -> bool:
        """Whether a message may have an instant after which it is not sent."""
        return self._says("expires") or self._says("missed")

    @cached_property
    def has_series(self) -> bool:
        """Whether a message may be one of a series."""
        return self._says(SERIES)

    def _says(self, word: str) -> bool:
        return _any(pc.match_substring(self._claims[row.POLICY], f'"{word}"'))


def _any(column: pa.ChunkedArray) -> bool:
    return bool(pc.any(column).as_py())
