"""Reads what a list of messages is asked for from the address of its page."""

from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends

from pipeline.admin.console.lines import PAUSED
from pipeline.admin.listing import Asked
from pipeline.clock import now_micros
from pipeline.instants import parse_instant
from pipeline.keys import key_bytes
from state.cursor import Order
from state.errors import ConfigError
from state.row import LIVE, Status

TABS = ("pending", "claimed", PAUSED, "done", "cancelled", "replaced", "expired", "dead", "all")
PAGE = 50
_BY_DUE = {*LIVE, PAUSED}


@dataclass(frozen=True, slots=True)
class Asking:
    """The parts of the address, as they were typed."""

    status: str = "pending"
    topic: str = ""
    key: str = ""  # how keys begin
    due_from: str = ""
    due_to: str = ""
    source: str = ""
    order: str = ""
    cursor: str = ""

    @property
    def tab(self) -> str:
        """Which of the tabs is open."""
        return self.status if self.status in TABS else "pending"

    @property
    def ordered(self) -> Order:
        """In which order: the next due first, of what has ended the newest."""
        if self.order in set(Order):
            return Order(self.order)
        return Order.NEXT_DUE if self.tab in _BY_DUE else Order.LAST_CHANGED

    @property
    def is_narrow(self) -> bool:
        """Whether anything but the tab is chosen."""
        return any((self.topic, self.key, self.due_from, self.due_to, self.source))

    def asked(self) -> Asked:
        """Return the question to the state; ConfigError where a part cannot be read."""
        now = now_micros()
        return Asked(
            statuses=self._statuses(),
            paused=True if self.tab == PAUSED else None,
            topic=self.topic or None,
            source=self.source or None,
            key_prefix=key_bytes(self.key, "key") if self.key else None,
            due_from=parse_instant(self.due_from, "due_from", now) if self.due_from else None,
            due_to=parse_instant(self.due_to, "due_to", now) if self.due_to else None,
            order=self.ordered,
            cursor=self.cursor or None,
            limit=PAGE,
        )

    def query(self, **changes: str) -> str:
        """Return the address of a list that differs in some parts; it begins with the first page.

        Parts that say nothing are left out.
        """
        said = replace(self, **{"cursor": "", **changes})
        parts = {name: getattr(said, name) for name in said.__slots__}
        given = {name: text for name, text in parts.items() if text}
        if given.get("status") == "pending":
            del given["status"]
        return f"?{urlencode(given)}" if given else ""

    def _statuses(self) -> frozenset[Status] | None:
        if self.tab == "all":
            return None
        return frozenset({Status.PENDING if self.tab == PAUSED else Status(self.tab)})


def readable_asking(asking: "Ask") -> tuple[Asked, str]:
    """Return the question, or one without what cannot be read and the sentence that says so."""
    try:
        return asking.asked(), ""
    except ConfigError as error:
        plain = Asking(status=asking.status)
        return plain.asked(), str(error)


Ask = Annotated[Asking, Depends()]
