"""Checks tokens of an identity provider (JWT), and tells who has them and what they may do."""

import hashlib
from typing import Any

import jwt

from pipeline.admin.issuer_keys import IssuerKeys
from pipeline.admin.problems import ASK_FOR_TOKEN, Problem
from pipeline.admin.who import Principal, Role
from pipeline.config.admin_block import JwtSettings
from state.clock import SECOND

_LONGEST = 16_384  # characters of a token
_LONGEST_NAME = 100
_ANYBODY = "*"


class Issued:
    """Takes tokens that the issuer has signed for us, while they are valid."""

    def __init__(self, settings: JwtSettings) -> None:
        self._settings = settings
        self._keys = IssuerKeys(settings)
        # Of all that decides who is let in: a session ends when any of it is changed.
        self._mark = f"jwt:{hashlib.sha256(settings.model_dump_json().encode()).hexdigest()}"

    def who(self, token: str) -> Principal:
        """Return who bears a token; a Problem if it does not hold, or gives them no role."""
        claims = self._claims(token)
        name = self._name(claims)
        role = self._role(_claim(claims, self._settings.role_claim))
        if role is None:
            raise Problem(
                403, "no_role", f"{name} has no role here (admin.jwt.role_claim names where it is)"
            )
        return Principal(name, role, mark=self._mark, until=int(claims["exp"]))

    def still(self, who: Principal) -> bool:
        """Tell whether somebody was let in by a token under the settings of now."""
        return who.mark == self._mark

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            key = self._key(token)
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=self._settings.algorithms,
                issuer=self._settings.issuer,
                audience=self._settings.audience,
                leeway=self._settings.leeway / SECOND,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            raise _refused(str(error)) from error
        return claims

    def _key(self, token: str) -> jwt.PyJWK:
        if len(token) > _LONGEST:
            raise _refused(f"it is longer than {_LONGEST} characters")
        header = jwt.get_unverified_header(token)
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in self._settings.algorithms:
            raise _refused("it is signed in a way that admin.jwt.algorithms does not name")
        key = self._keys.key(kid)
        if key is None:
            raise _refused("the issuer has no such key")
        return key

    def _name(self, claims: dict[str, Any]) -> str:
        name = _claim(claims, self._settings.name_claim)
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise _refused(f"its claim {self._settings.name_claim} is no name")
        return name.strip()[:_LONGEST_NAME]

    def _role(self, said: object) -> Role | None:
        roles = _words(said)
        if roles & set(self._settings.operator_roles):
            return Role.OPERATOR
        if roles & set(self._settings.viewer_roles) or _ANYBODY in self._settings.viewer_roles:
            return Role.VIEWER
        return None


def _claim(claims: dict[str, Any], path: str) -> object:
    if path in claims:  # names of claims may be URLs, with dots of their own
        return claims[path]
    found: object = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _words(said: object) -> set[str]:
    if isinstance(said, str):
        return set(said.split())
    return {each for each in said if isinstance(each, str)} if isinstance(said, list) else set()


def _refused(sentence: str) -> Problem:
    return Problem(
        401, "not_authenticated", f"this token is not taken: {sentence}", headers=ASK_FOR_TOKEN
    )
