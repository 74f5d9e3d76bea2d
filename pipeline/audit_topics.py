"""Reads the output topics of a state and matches their records with its receipts."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.config.settings import Settings
from pipeline.outbox.envelope import MEDIA_TYPE, opened
from pipeline.outbox.headers import CONTENT_TYPE
from pipeline.outbox.item import FIRE_ID
from pipeline.read_topics import TopicReader
from pipeline.receipts import Found, Matching, Place, fire_ids_of, receipts_of
from state.inspect import Filter, Inspector
from state.row import OUTPUT_TOPIC, SOURCE_TOPIC, STATUS, Kind, Status

Told = Callable[[int, int], None]  # how many records were read, of how many

_MICROS_A_MILLI = 1000
# A row is forgotten by the time of its batch, which may lie a little before the publication.
_MARGIN = 600_000_000


def match_topics(
    inspector: Inspector, rows: pa.Table, settings: Settings, now: int, told: Told
) -> Matching:
    """Match ``rows``, all messages that are kept, with what is on their output topics."""
    matching = Matching(receipts_of(rows), fire_ids_of(rows))
    ours = _Ours(rows, settings, now)
    with TopicReader(settings.kafka, _topics(rows)) as reader:
        for message in reader.messages():
            matching.see(ours.found(message))
            told(matching.records, reader.total)
        matching.finish(reader.lowest())
    if matching.strays:
        # What was scheduled after the rows were read is no stray: its row is there by now.
        matching.forgive(fire_ids_of(inspector.rows(Filter(kind=Kind.MESSAGE))))
    return matching


class _Ours:
    """Tells which fire ids must have a row.

    Not those another job gave, for it may write to the same topic; nor those whose row may be
    forgotten by now.
    """

    def __init__(self, rows: pa.Table, settings: Settings, now: int) -> None:
        self._sources = {source.topic for source in settings.sources}
        self._sources |= set(pc.unique(rows.column(SOURCE_TOPIC)).to_pylist())
        self._since = now - settings.state.keep_closed + _MARGIN

    def found(self, message: Any) -> Found:
        place = Place(message.topic(), message.partition(), message.offset())
        fire_id = next(_fire_ids(message), None)
        ours = fire_id is not None and self._names(fire_id, message.timestamp()[1])
        value, inside = message.value(), _inside(message)
        return Found(place, message.key(), value, fire_id, ours, inside)

    def _names(self, fire_id: str, millis: int) -> bool:
        source = fire_id.rsplit("-", 3)[0]
        return source in self._sources and millis * _MICROS_A_MILLI >= self._since


def _fire_ids(message: Any) -> Iterator[str]:
    for name, value in message.headers() or []:
        if name == FIRE_ID and value is not None:
            yield value.decode(errors="replace")


def _inside(message: Any) -> bytes | None:
    """Return what is in the envelope of a record, if this job made it one."""
    wrapped = (CONTENT_TYPE, MEDIA_TYPE) in (message.headers() or [])
    return opened(message.value()) if wrapped and message.value() is not None else None


def _topics(rows: pa.Table) -> list[str]:
    done = rows.filter(pc.field(STATUS) == Status.DONE.value)
    return sorted(pc.unique(done.column(OUTPUT_TOPIC)).to_pylist())
