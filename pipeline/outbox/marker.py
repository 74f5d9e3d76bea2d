"""The marker of a lane: what is out, as one record written in the same transaction.

The marker says: *all claims of batches up to ``batch`` with due up to ``watermark`` are out, but
for those it names*. Batch and watermark only grow. It is the newest record of the state on
partition ``lane`` of the markers topic, which is compacted: what is out is never forgotten, however
long no job runs.
"""

import json
from typing import NamedTuple, Self

from state.errors import KafkaError
from state.version import Coordinates


class Marker(NamedTuple):
    """How far a lane has come, and how many lanes there were when it was written."""

    batch: int
    watermark: int
    lanes: int
    besides: tuple[Coordinates, ...] = ()  # versions that were held back and are not out

    def covers(self, claim: int, due: int, name: Coordinates) -> bool:
        """Tell whether the version ``name``, claimed by batch ``claim`` for ``due``, is out."""
        return claim <= self.batch and due <= self.watermark and name not in self.besides

    def to_json(self) -> bytes:
        """Write it as the value of a record."""
        return json.dumps(self._asdict()).encode()

    @classmethod
    def from_json(cls, value: bytes | None) -> Self:
        """Read it back."""
        try:
            fields = json.loads(value or b"")
            besides = tuple(tuple(name) for name in fields["besides"])
            batch, watermark, lanes = (int(fields[n]) for n in ("batch", "watermark", "lanes"))
            return cls(batch, watermark, lanes, besides)
        except (ValueError, TypeError, KeyError) as error:
            raise KafkaError(
                f"a marker on Kafka holds {value!r}, which this version cannot read; start the "
                "version that wrote it"
            ) from error


NOTHING_OUT = -1  # the watermark and the batch of a lane that has not published yet
