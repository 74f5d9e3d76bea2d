"""Matches the receipts in the state with the records on the output topics, one to one."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.outbox.item import fire_id_of
from state.row import (
    OCCURRENCE,
    OUTPUT_KEY,
    OUTPUT_TOPIC,
    PAYLOAD,
    PUBLISHED_OFFSET,
    PUBLISHED_PARTITION,
    SCHEDULED,
    SOURCE_OFFSET,
    SOURCE_PARTITION,
    SOURCE_TOPIC,
    STATUS,
    Status,
)


class Place(NamedTuple):
    """Where a record is on Kafka."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}, partition {self.partition}, offset {self.offset}"


class Found(NamedTuple):
    """A record that was read from an output topic."""

    place: Place
    key: bytes | None
    value: bytes | None
    fire_id: str | None
    needs_row: bool = True  # whether its fire id is one that this state must know
    inside: bytes | None = None  # the value, if the record is an envelope around it


class Receipt(NamedTuple):
    """What the state says was published, and where."""

    fire_id: str
    key: bytes | None
    value: bytes | None


@dataclass(slots=True)
class Matching:
    """Takes the records one after the other, and says in the end what did not fit."""

    receipts: dict[Place, list[Receipt]]
    fire_ids: set[str]  # of all rows
    records: int = 0
    matched: int = 0
    different: list[tuple[Place, str]] = field(default_factory=list)
    missing: list[Place] = field(default_factory=list)
    gone: int = 0  # receipts of records that Kafka has deleted since
    strays: list[Found] = field(default_factory=list)  # with a fire id that no row has
    by_fire_id: defaultdict[str, list[Place]] = field(default_factory=lambda: defaultdict(list))
    _seen: set[Place] = field(default_factory=set)

    def see(self, record: Found) -> None:
        """Hold one record against the receipt of its place."""
        self.records += 1
        if record.fire_id is not None:
            self.by_fire_id[record.fire_id].append(record.place)
            if record.needs_row and record.fire_id not in self.fire_ids:
                self.strays.append(record)
        claims = self.receipts.get(record.place)
        if claims is None:
            return
        self._seen.add(record.place)
        wrong = [_what_differs(record, receipt) for receipt in claims]
        if "" in wrong:
            self.matched += 1
        else:
            self.different.append((record.place, wrong[0]))

    def finish(self, lowest: Mapping[tuple[str, int], int]) -> None:
        """Sort the receipts nobody answered to; ``lowest`` is the first offset still there."""
        for place in sorted(self.receipts.keys() - self._seen):
            if place.offset < lowest.get(place[:2], 0):
                self.gone += 1
            else:
                self.missing.append(place)

    def forgive(self, fire_ids: Collection[str]) -> None:
        """Take back the strays that have a row after all."""
        self.strays = [record for record in self.strays if record.fire_id not in fire_ids]

    @property
    def shared(self) -> list[Place]:
        """Places that more than one receipt names."""
        return sorted(place for place, claims in self.receipts.items() if len(claims) > 1)

    @property
    def doubled(self) -> dict[str, list[Place]]:
        """Fire ids that more than one record has."""
        return {name: places for name, places in self.by_fire_id.items() if len(places) > 1}


def differences(matching: Matching, *, doubles_allowed: bool) -> Iterator[str]:
    """Yield a sentence for whatever breaks a promise."""
    for place in matching.missing:
        yield f"no record at {place}, where a receipt says it is"
    for place, wrong in matching.different:
        yield f"the record at {place} has another {wrong} than its row"
    for record in matching.strays:
        yield f"the record at {record.place} has the fire id {record.fire_id}, and no row has it"
    for place in matching.shared:
        yield f"{len(matching.receipts[place])} receipts name one record, at {place}"
    for name, places in {} if doubles_allowed else matching.doubled.items():
        yield f"{name} was published {len(places)} times: " + "; ".join(map(str, places))


def receipts_of(rows: pa.Table) -> dict[Place, list[Receipt]]:
    """Return what the rows that are done say of where their records are."""
    found: dict[Place, list[Receipt]] = {}
    has_receipt = (pc.field(STATUS) == Status.DONE.value) & pc.field(PUBLISHED_OFFSET).is_valid()
    done = rows.filter(has_receipt)
    places = _columns(done, OUTPUT_TOPIC, PUBLISHED_PARTITION, PUBLISHED_OFFSET)
    contents = _columns(done, OUTPUT_KEY, PAYLOAD)
    for place, name, content in zip(places, _names(done), contents, strict=True):
        found.setdefault(Place(*place), []).append(Receipt(name, *content))
    return found


def fire_ids_of(rows: pa.Table) -> set[str]:
    """Return the fire ids of all rows, whatever became of them."""
    return set(_names(rows))


def without_receipt(rows: pa.Table) -> int:
    """Count the rows that are done and do not say where; a crash costs the last receipts."""
    done = rows.filter(pc.field(STATUS) == Status.DONE.value)
    return int(done.column(PUBLISHED_OFFSET).null_count)


def _names(rows: pa.Table) -> Iterator[str]:
    columns = _columns(rows, SOURCE_TOPIC, SOURCE_PARTITION, SOURCE_OFFSET, SCHEDULED, OCCURRENCE)
    return (fire_id_of(*of_row) for of_row in columns)


def _columns(rows: pa.Table, *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows.column(name).to_pylist() for name in names), strict=True)


def _what_differs(record: Found, receipt: Receipt) -> str:
    wrong = []
    if record.key != receipt.key:
        wrong.append("key")
    if receipt.value != record.value and (record.inside is None or receipt.value != record.inside):
        wrong.append("payload")
    if record.fire_id is not None and record.fire_id != receipt.fire_id:
        wrong.append("fire id")
    return " and ".join(wrong)
