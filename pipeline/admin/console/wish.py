"""The form that schedules a message: what it holds, and the event it makes."""

import json
from base64 import b64encode
from typing import Any

from pydantic import BaseModel

from pipeline.admin.console.act import moment
from pipeline.admin.console.again import asked_again, decides_when
from pipeline.admin.console.lines import Row
from pipeline.admin.console.texts import t
from pipeline.clock import exact_text
from pipeline.keys import key_text, payload_text
from pipeline.paused import instant_of
from pipeline.planning.event import CARRIED
from state import row as r
from state.row import LIVE
from state.rules.same_policy import COMPARING, SamePolicy

# Fields that go into the event as they are, under the same name.
SAME = (
    "outputtopic",
    "outputkey",
    "outputpartition",
    "datacontenttype",
    "repeatevery",
    "repeatcron",
    "repeattz",
    "repeatcount",
    "repeatuntil",
    "onmiss",
    "expireafter",
    "expirytime",
    "retrymax",
    "retryfor",
    "onsameid",
    "comparefield",
    "mindeviation",
    "settlefor",
    "settlemax",
    *CARRIED,
)
_TURN_AWAY = frozenset({SamePolicy.KEEP, *COMPARING})
_COMPARING = ("onsameid", "comparefield", "mindeviation")


class Wish(BaseModel):
    """The fields of the form, as they were typed."""

    key: str = ""
    source: str = ""
    version: str = ""  # the one that is to be replaced, if it is still pending
    when: str = ""
    payload: str = ""
    base64: bool = False  # whether the payload is given in base64
    outputtopic: str = ""
    outputkey: str = ""
    outputpartition: str = ""
    datacontenttype: str = ""
    repeatevery: str = ""
    repeatcron: str = ""
    repeattz: str = ""
    repeatcount: str = ""
    repeatuntil: str = ""
    onmiss: str = ""
    expireafter: str = ""
    expirytime: str = ""
    retrymax: str = ""
    retryfor: str = ""
    onsameid: str = ""
    comparefield: str = ""
    mindeviation: str = ""
    settlefor: str = ""
    settlemax: str = ""
    traceparent: str = ""
    tracestate: str = ""
    correlationid: str = ""
    left: str = ""  # what was not taken over from the message it was filled in with

    @property
    def has_more(self) -> bool:
        """Whether any of the fields is filled in that are folded away."""
        return any(getattr(self, name) for name in SAME[1:])

    def event(self) -> bytes:
        """Return the event, without its envelope; ConfigError where no time is given."""
        given = {name: getattr(self, name).strip() for name in SAME}
        said: dict[str, Any] = {name: text for name, text in given.items() if text}
        said |= self._time()
        # A browser sends lines ended by two characters, whatever was typed.
        said["data_base64" if self.base64 else "data"] = self.payload.replace("\r\n", "\n")
        return json.dumps(said, ensure_ascii=False).encode(errors="surrogatepass")

    def _time(self) -> dict[str, str]:
        text = self.when.strip()
        if not text and (self.repeatevery or self.repeatcron or self.settlefor):
            return {}  # a series begins by itself, what settles waits for others
        at, delay = moment(text)
        return {"deliverat": at} if at is not None else {"delayby": delay or ""}


def like(row: Row, hide: bool) -> Wish:
    """Return the form filled in with a message that is known; ``hide`` leaves its payload out."""
    again = asked_again(row, hide)
    live = row[r.STATUS] in LIVE
    given, left = _replacing(again.attributes) if live else (again.attributes, [])
    timed = live and not decides_when(row)
    wish = Wish(
        key=key_text(row[r.KEY]),
        source=row[r.SOURCE_TOPIC],
        when=exact_text(instant_of(row)) if timed else "",
        **given,
    )
    if row[r.PAYLOAD] is None:
        left.append(t("that it has no payload at all (an empty one is sent)"))
    wish = wish if hide else wish.model_copy(update=_payload(row[r.PAYLOAD] or b""))
    return wish.model_copy(update={"left": ", ".join([*again.left, *left])})


def _replacing(attributes: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Leave out a policy by which the pending message would turn its replacement away."""
    same = attributes.get("onsameid")
    if same not in _TURN_AWAY:
        return attributes, []
    kept = {name: text for name, text in attributes.items() if name not in _COMPARING}
    return kept, [t("onsameid %(same)s (it could turn the replacement away)", same=same)]


def _payload(payload: bytes) -> dict[str, Any]:
    text = payload_text(payload)
    if text is not None and "\r" not in text:  # a form would change the ends of its lines
        return {"payload": text, "base64": False}
    return {"payload": b64encode(payload).decode(), "base64": True}
