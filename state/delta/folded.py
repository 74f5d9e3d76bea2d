"""What a fold tells when it has ended."""

import json
from typing import NamedTuple

from state.delta.mark import Mark


class Folded(NamedTuple):
    """How far it went, with the totals up to there, and how long it took."""

    mark: Mark
    seconds: float

    def to_json(self) -> str:
        """Write it down, on one line."""
        return json.dumps({"mark": self.mark.to_json(), "seconds": self.seconds})

    @staticmethod
    def from_json(text: str) -> "Folded":
        """Read it back."""
        read = json.loads(text)
        return Folded(Mark.from_json(read["mark"]), read["seconds"])
