"""Writes the page of the reasons for which records and messages are refused."""

from pipeline.reasons import Reason
from pipeline.reference.table import table

_OPENING = """\
# Reasons

Why a record was not admitted, or a message not published: the codes in the header
`duestream-reason` of a dead letter, in `duestream dead list`, and in the metrics. The header
`duestream-detail` says more in a sentence. What is refused never harms the schedule that its key
already has.
"""


def reasons_page() -> str:
    """Return the page."""
    rows = [(f"`{reason}`", reason.sentence) for reason in Reason]
    return f"{_OPENING}\n{table(['code', 'meaning'], rows)}\n"
