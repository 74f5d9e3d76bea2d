"""Reads what an event wants to happen to a pending one of its key."""

import re
from hashlib import sha256

from state.rules.json_path import NotJsonError, parse_path, value_at
from state.rules.numbers import exact_number, number_text
from state.rules.refusal import Why, refuse
from state.rules.same_policy import COMPARING, SETTLING, SameKey, SamePolicy
from state.rules.wishes import Wishes

_DEVIATION = re.compile(r"([0-9]{1,30}(?:\.[0-9]{1,30})?)(%?)")
_LONGEST = 200  # characters of a value that are kept to compare with
_NO_PAYLOAD = "none"


def read_same(wishes: Wishes) -> SameKey:
    """Return the policy and what belongs to it, all of it checked."""
    policy = _policy(wishes)
    _check_comparing(wishes, policy)
    _check_settling(wishes, policy)
    settle_for = wishes.positive_span("settlefor", Why.INVALID_POLICY)
    settle_max = wishes.positive_span("settlemax", Why.INVALID_POLICY)
    if settle_for is not None and settle_max is not None and settle_max < settle_for:
        refuse(
            Why.CONFLICTING_ATTRIBUTES,
            f"{wishes.said('settlemax')} is shorter than {wishes.said('settlefor')}; send a longer "
            f"{wishes.label('settlemax')}",
        )
    return SameKey(policy, _field(wishes), _deviation(wishes), settle_for, settle_max)


def compared(wishes: Wishes, same: SameKey, payload: bytes | None) -> str | None:
    """Return what a later event of the key is compared with, or None where nothing is compared.

    The whole payload is kept as a digest; a field as the text of its value, if that is not long.
    A field that is not there, or no number where one is needed, is refused.
    """
    if same.policy not in COMPARING:
        return None
    if same.compare_field is None:
        return _NO_PAYLOAD if payload is None else _digest(payload)
    value = _value(wishes, same.compare_field, payload)
    if same.policy is SamePolicy.IGNORE_SMALL_CHANGE:
        return _number(wishes, value)
    return value if len(value) <= _LONGEST else f"#{_digest(value.encode())}"


def _number(wishes: Wishes, value: str) -> str:
    if exact_number(value) is None:
        refuse(
            Why.INVALID_POLICY,
            f"{wishes.said('comparefield')} is no number in the payload, or one of more than 400 "
            f"digits, and {wishes.said('onsameid')} compares numbers; send a number there",
        )
    return value


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]


def _value(wishes: Wishes, path: str, payload: bytes | None) -> str:
    try:
        value = None if payload is None else value_at(payload, path)
    except NotJsonError as error:
        return refuse(
            Why.INVALID_POLICY,
            f"{wishes.said('comparefield')} cannot be looked up: {error}; send JSON, or leave "
            f"{wishes.label('comparefield')} out",
        )
    if value is None:
        refuse(
            Why.INVALID_POLICY,
            f"{wishes.said('comparefield')} is not in the payload; name a field that is there",
        )
    return value


def _policy(wishes: Wishes) -> SamePolicy:
    if not wishes.has("onsameid"):
        return SamePolicy.REPLACE
    try:
        return SamePolicy(wishes.asked["onsameid"].lower())
    except ValueError:
        known = ", ".join(SamePolicy)
        return refuse(
            Why.INVALID_POLICY, f"{wishes.said('onsameid')} is not known; send one of {known}"
        )


def _check_comparing(wishes: Wishes, policy: SamePolicy) -> None:
    if policy not in COMPARING:
        _only_with(wishes, "comparefield", *sorted(COMPARING))
    if policy is not SamePolicy.IGNORE_SMALL_CHANGE:
        _only_with(wishes, "mindeviation", SamePolicy.IGNORE_SMALL_CHANGE)
        return
    for needed in ("comparefield", "mindeviation"):
        _needs(wishes, needed)


def _check_settling(wishes: Wishes, policy: SamePolicy) -> None:
    if policy not in SETTLING:
        _only_with(wishes, "settlefor", *sorted(SETTLING))
    if policy is not SamePolicy.SETTLE:
        _only_with(wishes, "settlemax", SamePolicy.SETTLE)
    if policy in SETTLING:
        _needs(wishes, "settlefor")


def _only_with(wishes: Wishes, name: str, *policies: str) -> None:
    if not wishes.has(name):
        return
    policy = wishes.said("onsameid") if wishes.has("onsameid") else wishes.label("onsameid")
    state = "says otherwise" if wishes.has("onsameid") else "is not given"
    refuse(
        Why.CONFLICTING_ATTRIBUTES,
        f"{wishes.said(name)} is of use only where {wishes.label('onsameid')} is "
        f"{' or '.join(policies)}, and {policy} {state}; change that, or leave "
        f"{wishes.label(name)} out",
    )


def _needs(wishes: Wishes, name: str) -> None:
    if not wishes.has(name):
        refuse(
            Why.CONFLICTING_ATTRIBUTES,
            f"{wishes.said('onsameid')} needs {wishes.label(name)}, which is not given; send both",
        )


def _field(wishes: Wishes) -> str | None:
    path = wishes.asked.get("comparefield")
    try:
        if path is not None:
            parse_path(path)
    except ValueError as error:
        refuse(Why.INVALID_POLICY, f"{wishes.said('comparefield')} cannot be followed: {error}")
    return path


def _deviation(wishes: Wishes) -> str | None:
    text = wishes.asked.get("mindeviation")
    if text is None:
        return None
    parts = _DEVIATION.fullmatch(text)
    number = "0" if parts is None else number_text(parts[1])
    if parts is None or number == "0":
        refuse(
            Why.INVALID_POLICY,
            f"{wishes.said('mindeviation')} is not a deviation above zero; write for example 0.5, "
            "or 5% for a part of the pending value",
        )
    return number + parts[2]
