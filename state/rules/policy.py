"""Everything a message asks for besides what, where to and when, as kept in the column POLICY.

There it is one JSON object with only what is asked for, its keys in order, so that equal policies
are equal texts. Keys that are not known here are kept as they are.
"""

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from state.duration import parse_duration
from state.rules.repeat import OnMiss, Repeat
from state.rules.same_policy import SameKey, SamePolicy

_OWN = frozenset(
    {
        "retrymax",
        "retryfor",
        "expires",
        "expireafter",
        "missed",
        "repeat",
        "then",
        "same",
        "first",
        "compare",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a message asks for; instants and spans in microseconds."""

    retrymax: int | None = None  # how often it is tried again
    retryfor: int | None = None  # for how long it is tried again
    expires: int | None = None  # not sent after this instant; of a series: this occurrence
    expireafter: int | None = None  # of a series: each occurrence expires so long after its instant
    missed: int | None = None  # of an occurrence that is claimed: from then on it counts as missed
    repeat: Repeat | None = None
    then: tuple[int, int] | None = None  # of one that was moved: instant and number of the next
    same: SameKey = field(default_factory=SameKey)
    first: int | None = None  # when the first event of a settling series came
    compare: str | None = None  # what the next event of the same key is compared with
    others: str | None = None  # what else the object holds, as JSON

    @staticmethod
    def from_json(text: str | None) -> "Policy":
        """Read what ``to_json`` wrote; no text is a policy that asks for nothing.

        ``retrymax`` and ``retryfor`` may also stand there as the event had them, as texts.
        """
        return _read(text) if text else _NOTHING

    def to_json(self) -> str | None:
        """Return the JSON text, or None when nothing is asked for."""
        known = {
            "retrymax": self.retrymax,
            "retryfor": self.retryfor,
            "expires": self.expires,
            "expireafter": self.expireafter,
            "missed": self.missed,
            "repeat": None if self.repeat is None else _repeat_as_dict(self.repeat),
            "then": self.then,
            "same": _same_as_dict(self.same) or None,
            "first": self.first,
            "compare": self.compare,
        }
        asked = _given(known) | (json.loads(self.others) if self.others else {})
        return _as_text(asked) if asked else None

    def without_repeat(self, missed: int | None = None) -> "Policy":
        """Return what a single message of the series asks for, and when it counts as missed."""
        return replace(self, repeat=None, then=None, expireafter=None, missed=missed)

    def at(self, scheduled: int) -> "Policy":
        """Return what the occurrence at ``scheduled`` of the series asks for: its own expiry."""
        if self.expireafter is None:
            return self if self.then is None else replace(self, then=None)
        return replace(self, then=None, expires=scheduled + self.expireafter)


_NOTHING = Policy()


@lru_cache(maxsize=16384)
def _read(text: str) -> Policy:
    asked = json.loads(text)
    if not isinstance(asked, dict):
        raise ValueError(f"a policy is a JSON object, not {text[:40]!r}")
    retrymax, retryfor, repeat = asked.get("retrymax"), asked.get("retryfor"), asked.get("repeat")
    others = {key: value for key, value in asked.items() if key not in _OWN}
    return Policy(
        retrymax=None if retrymax is None else int(retrymax),
        retryfor=parse_duration(retryfor) if isinstance(retryfor, str) else retryfor,
        expires=asked.get("expires"),
        expireafter=asked.get("expireafter"),
        missed=asked.get("missed"),
        repeat=None if repeat is None else _repeat(repeat),
        then=None if asked.get("then") is None else tuple(asked["then"]),
        same=_same(asked.get("same") or {}),
        first=asked.get("first"),
        compare=asked.get("compare"),
        others=_as_text(others) if others else None,
    )


def _repeat(asked: dict[str, Any]) -> Repeat:
    on_miss = OnMiss(asked.get("on_miss", OnMiss.LAST))
    return Repeat(**{**asked, "on_miss": on_miss})


def _repeat_as_dict(repeat: Repeat) -> dict[str, Any]:
    said = {
        "every": repeat.every,
        "cron": repeat.cron,
        "tz": None if repeat.tz == "UTC" else repeat.tz,
        "until": repeat.until,
        "count": repeat.count,
        "anchor": repeat.anchor,
        "on_miss": None if repeat.on_miss == OnMiss.LAST else str(repeat.on_miss),
    }
    return _given(said)


def _same(asked: dict[str, Any]) -> SameKey:
    return SameKey(**{**asked, "policy": SamePolicy(asked.get("policy", SamePolicy.REPLACE))})


def _same_as_dict(same: SameKey) -> dict[str, Any]:
    said = {
        "policy": None if same.policy == SamePolicy.REPLACE else str(same.policy),
        "compare_field": same.compare_field,
        "min_deviation": same.min_deviation,
        "settle_for": same.settle_for,
        "settle_max": same.settle_max,
    }
    return _given(said)


def _given(said: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if value is not None}


def _as_text(asked: dict[str, Any]) -> str:
    return json.dumps(asked, sort_keys=True, separators=(",", ":"))
