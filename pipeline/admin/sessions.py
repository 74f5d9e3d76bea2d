"""Keeps who is logged in to the console in a signed cookie, and here only who has logged out."""

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass

from pipeline.admin.doors import Doors
from pipeline.admin.memory import Memory
from pipeline.admin.who import LOCAL, Principal, Role
from pipeline.config.admin_block import AdminSettings
from state.clock import SECOND

_LONGEST = 4_000  # characters of a cookie; browsers keep no more
_MOST_ENDED = 10_000  # logouts that are remembered


@dataclass(frozen=True, slots=True)
class Session:
    """Who is logged in, until when (seconds since the epoch), and what their forms must say."""

    who: Principal
    until: int
    form_token: str


class Sessions:
    """Begins sessions and reads them back; it remembers those that ended before their time.

    A session holds as long as the credential that began it: the token has to be in the settings
    still, and a JWT must not have expired. The role is that of the settings, not of the cookie.
    """

    def __init__(self, settings: AdminSettings, doors: Doors) -> None:
        given = settings.session_key
        key = given.get_secret_value().encode() if given else secrets.token_bytes(32)
        self._key = hmac.digest(key, b"duestream session 1", hashlib.sha256)
        self._doors = doors
        self._age = settings.session_age // SECOND
        self._ended: Memory[str, bool] = Memory(_MOST_ENDED, settings.session_age)

    def begin(self, who: Principal) -> Session:
        """Return a session for somebody who was let in."""
        until = int(time.time()) + self._age
        if who.until is not None:
            until = min(until, who.until)
        return Session(who, until, self._form_token(who))

    def cookie(self, session: Session) -> str:
        """Return a session as the value of a cookie."""
        who = session.who
        said = [who.name, who.role, who.mark, who.until, session.until, session.form_token]
        body = _text(json.dumps(said).encode())
        return f"{body}.{self._signature(body)}"

    def read(self, cookie: str) -> Session | None:
        """Return the session of a cookie; None if it is not ours, has ended or was revoked."""
        body, _, signature = cookie.partition(".")
        if len(cookie) > _LONGEST or not _same(signature, self._signature(body)):
            return None
        session = _session(json.loads(_bytes(body)))
        if session.until <= time.time() or self._ended.get(signature):
            return None
        now = self._doors.still(session.who)
        return Session(now, session.until, session.form_token) if now else None

    def end(self, cookie: str) -> None:
        """Take the session of a cookie no more, whoever has a copy of it."""
        session = self.read(cookie)
        # Those who are local are let in anyhow, and two of them may have the same cookie.
        if session is not None and session.who.mark != LOCAL.mark:
            self._ended.put(cookie.partition(".")[2], True)

    def _signature(self, body: str) -> str:
        return _text(hmac.digest(self._key, body.encode(), hashlib.sha256))

    def _form_token(self, who: Principal) -> str:
        # One for all who are local: a link from another site begins a new session of theirs, and
        # the forms of pages that are open must still be taken.
        if who.mark == LOCAL.mark:
            return _text(hmac.digest(self._key, b"forms of this machine", hashlib.sha256))
        return secrets.token_urlsafe(32)


def _session(said: list[object]) -> Session:
    name, role, mark, who_until, until, form_token = said
    ends = None if who_until is None else int(str(who_until))
    who = Principal(str(name), Role(str(role)), str(mark), ends)
    return Session(who, int(str(until)), str(form_token))


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(), right.encode())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return b"null"
