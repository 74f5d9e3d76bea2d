"""Who wrote a lane's newest marker: this holder of the lane, or one that it lent the lane to.

A run of the job signs as itself; whoever it lends a lane to signs below that name. When the run
takes its lane back it signs with a new name, so a borrower that comes late finds that the lane is
not lent any more.
"""

from typing import NamedTuple
from uuid import uuid4

from pipeline.outbox.newest import Newest
from pipeline.outbox.records import RUN


class Loan(NamedTuple):
    """What a borrower of a lane must know to tell whether it is still lent."""

    run: str
    begins: int  # offset of the first marker that can be of this loan or of its lender


def borrower(loan: Loan) -> str:
    """Return a name that only this borrower signs with; another attempt is another borrower."""
    return f"{loan.run}/{uuid4().hex}"


def is_signed(newest: Newest, run: str) -> bool:
    """Tell whether ``run`` itself has written a marker."""
    return _signature(newest) == run


def is_from(newest: Newest, run: str) -> bool:
    """Tell whether ``run`` has written a marker, or one that it lent the lane to."""
    signature = _signature(newest)
    return signature == run or signature.startswith(f"{run}/")


def _signature(newest: Newest) -> str:
    headers = None if newest.record is None else newest.record.headers()
    found = dict(headers or []).get(RUN)
    return found.decode(errors="replace") if isinstance(found, bytes) else ""
