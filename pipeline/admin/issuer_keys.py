"""Has the keys that an issuer signs its tokens with, fetched from the issuer when they are needed.

Keys are kept for ten minutes, and for a day while the issuer is away. A key that is not known has
them fetched again, but only so often: anybody can name keys that there are none of.
"""

import logging
import threading
import time
from typing import Any

from jwt import PyJWK, PyJWKError
from jwt.exceptions import InvalidKeyError

from pipeline.admin.buckets import Buckets
from pipeline.admin.fetching import NotFetched, fetched_json
from pipeline.admin.problems import Problem
from pipeline.config.admin_block import JwtSettings

log = logging.getLogger(__name__)

_FRESH, _USABLE = 600.0, 86_400.0  # seconds
_FETCHES, _PAUSE = 5.0, 10.0  # that many at once, then one in so many seconds
_WAIT = 2.0  # seconds, for another who asks already
_DISCOVERY = "/.well-known/openid-configuration"


class IssuerKeys:
    """The keys by their ids; many threads may ask."""

    def __init__(self, settings: JwtSettings) -> None:
        self._settings = settings
        self._fetching = threading.Lock()
        self._fetches = Buckets(1 / _PAUSE, _FETCHES)
        self._keys: dict[str, PyJWK] = {}
        self._fetched_at: float | None = None
        self._is_failing = False

    def key(self, kid: str | None) -> PyJWK | None:
        """Return a key; None if the issuer has no such key, a Problem if it cannot be asked."""
        found = self._find(kid) if self._age() <= _FRESH else None
        if found is not None:
            return found
        self._renew()
        if self._age() > _USABLE:
            raise _away(self._settings)
        return self._find(kid)

    def _renew(self) -> None:
        # One asks and the others wait for it; but not for an issuer that did not answer before, or
        # it would hold up all that is asked of this server.
        before, patience = self._fetched_at, 0.0 if self._is_failing else _WAIT
        if not self._fetching.acquire(timeout=patience):
            return
        try:
            if self._fetched_at == before:
                self._fetch()
        finally:
            self._fetching.release()

    def _age(self) -> float:
        return float("inf") if self._fetched_at is None else time.monotonic() - self._fetched_at

    def _find(self, kid: str | None) -> PyJWK | None:
        if kid is None:  # then it can only be the one key there is
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(kid)

    def _fetch(self) -> None:
        if self._fetches.take("keys"):
            return
        try:
            self._keys = _keys(fetched_json(self._place()))
        except NotFetched as error:
            self._is_failing = True
            log.warning("admin.jwt: the keys of the issuer cannot be fetched: %s", error)
            return
        self._is_failing, self._fetched_at = False, time.monotonic()

    def _place(self) -> str:
        if self._settings.jwks_url:
            return self._settings.jwks_url
        issuer = self._settings.issuer or ""
        document = fetched_json(issuer.rstrip("/") + _DISCOVERY)
        if document.get("issuer") != issuer:
            raise NotFetched(f"its discovery document is of the issuer {document.get('issuer')}")
        return str(document.get("jwks_uri"))


def _keys(said: dict[str, Any]) -> dict[str, PyJWK]:
    found = {}
    listed = said.get("keys")
    for number, each in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(each, dict) or each.get("use", "sig") != "sig":
            continue
        if each.get("kty") == "oct":  # a shared secret, which no issuer would publish
            continue
        try:
            found[str(each.get("kid", f"unnamed {number}"))] = PyJWK.from_dict(each)
        except (PyJWKError, InvalidKeyError, KeyError, ValueError, TypeError):
            log.debug("a key of the issuer is of a kind that is not known here")
    return found


def _away(settings: JwtSettings) -> Problem:
    return Problem(
        503,
        "issuer_unavailable",
        f"the keys of {settings.issuer} cannot be fetched now, so no token of it can be checked",
        headers={"Retry-After": "10"},
    )
