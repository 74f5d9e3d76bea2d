"""Lets in who bears a token that is known, or one of an issuer that is trusted."""

import hashlib
import hmac

from starlette.requests import Request

from pipeline.admin.attempts import Attempts
from pipeline.admin.buckets import neighbourhood
from pipeline.admin.issued import Issued
from pipeline.admin.problems import ASK_FOR_TOKEN, Problem
from pipeline.admin.who import LOCAL, Principal, Role
from pipeline.config.admin_block import AdminSettings, TokenSettings


class Doors:
    """Knows the tokens; where none are set up, which is so on loopback only, all may come in."""

    def __init__(self, settings: AdminSettings) -> None:
        self._settings = settings
        self._issued = Issued(settings.jwt) if settings.jwt.issuer else None
        self._attempts = Attempts()

    def let_in(self, request: Request) -> Principal:
        """Return who asks, by the Authorization header; a Problem if that cannot be told."""
        if not self._settings.asks_who:
            return LOCAL
        return self.let_in_by(request, bearer_of(request))

    def let_in_by(self, request: Request, token: str) -> Principal:
        """Return who bears the token that came with a request; a Problem if nobody does."""
        if not token:
            raise _refused("send a token: Authorization: Bearer ...")
        address, digest = address_of(request), _digest(token)
        self._attempts.require(address, digest)
        try:
            who = self.who(token)
        except Problem as problem:
            self._attempts.forget(address, digest)
            if problem.status < 500:  # else the issuer is away, which is no fault of the token
                self._attempts.wrong(address, problem.detail)
            raise
        self._attempts.right(address, digest)
        return who

    def who(self, token: str) -> Principal:
        """Return who bears a token; a Problem if nobody does."""
        known = self._known(f"token:{_digest(token)}")
        if known:
            return known
        if self._issued and token.count(".") == 2:  # the three parts of a JWT
            return self._issued.who(token)
        raise _refused("this token is not known here")

    def still(self, who: Principal) -> Principal | None:
        """Return who was let in earlier, as the settings have them now; None if they are gone."""
        if not self._settings.asks_who:
            return LOCAL if who.mark == LOCAL.mark else None
        if self._issued and self._issued.still(who):
            return who
        return self._known(who.mark)

    def recognise(self, request: Request, token: str) -> str | None:
        """Return what a token is counted by, without a check; None if it was never let in."""
        digest = _digest(token)
        if token and self._attempts.is_right(address_of(request), digest):
            return digest
        return None

    def _known(self, mark: str) -> Principal | None:
        for token in self._settings.tokens:
            if hmac.compare_digest(mark.encode(), f"token:{token.sha256}".encode()):
                return _principal(token, mark)
        return None


def bearer_of(request: Request) -> str:
    """Return the token of the Authorization header; an empty text if it has none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def address_of(request: Request) -> str:
    """Return where a request comes from, as far as clients are told apart by it."""
    return neighbourhood(request.client.host) if request.client else "unknown"


def _principal(token: TokenSettings, mark: str) -> Principal:
    return Principal(token.name, Role(token.role), mark=mark)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _refused(sentence: str) -> Problem:
    return Problem(401, "not_authenticated", sentence, headers=ASK_FOR_TOKEN)
