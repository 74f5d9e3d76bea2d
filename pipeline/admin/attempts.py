"""Slows down whoever tries tokens that nobody has."""

import logging
import threading
from collections import OrderedDict

from pipeline.admin.buckets import Buckets
from pipeline.admin.problems import Problem

log = logging.getLogger(__name__)

AT_ONCE = 20  # tokens that may be wrong before an address has to wait
_EACH = 5.0  # seconds for which each further one has it wait
_REMEMBERED = 10_000  # tokens that were right, by address


class Attempts:
    """Counts wrong tokens by address, and remembers the right ones.

    An address that is over the limit may not try others, not even a right one: it could not be
    told from a guess. The tokens that were used from there before are taken all the same, so that
    nobody can lock out those who share an address.
    """

    def __init__(self) -> None:
        self._wrong = Buckets(1 / _EACH, AT_ONCE)
        self._right: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._remembering = threading.Lock()

    def is_right(self, address: str, digest: str) -> bool:
        """Tell whether a token was used from this address before."""
        return (address, digest) in self._right

    def require(self, address: str, digest: str) -> None:
        """Raise a Problem if this address has tried too often."""
        wait = 0.0 if self.is_right(address, digest) else self._wrong.wait(address)
        if wait:
            raise Problem.too_often("tokens that are not known", wait)

    def wrong(self, address: str, why: str) -> None:
        """Count a token that was refused."""
        self._wrong.take(address)
        log.warning("a token from %s was refused: %s", address, why)

    def right(self, address: str, digest: str) -> None:
        """Remember a token that was taken."""
        with self._remembering:
            self._right[address, digest] = None
            self._right.move_to_end((address, digest))
            if len(self._right) > _REMEMBERED:
                self._right.popitem(last=False)

    def forget(self, address: str, digest: str) -> None:
        """Forget a token that was right once, and is no more."""
        with self._remembering:
            self._right.pop((address, digest), None)
