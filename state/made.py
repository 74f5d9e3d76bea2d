"""What making a state came to."""

from typing import NamedTuple


class Made(NamedTuple):
    """A state that is there now; ``new`` if it was not before."""

    state_id: str
    place: str
    new: bool
