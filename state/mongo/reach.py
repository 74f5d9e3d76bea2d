"""Reaches the database: makes the client, waits while the server is away, tells what is wrong."""

import logging
import threading
import time
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from bson.errors import BSONError
from pymongo import MongoClient
from pymongo.errors import (
    AutoReconnect,
    ConfigurationError,
    ExecutionTimeout,
    InvalidName,
    InvalidURI,
    OperationFailure,
    PyMongoError,
    WTimeoutError,
)
from pymongo.uri_parser import parse_uri
from pymongo.write_concern import WriteConcern

from state.errors import StateError
from state.mongo.layout import Db
from state.settings import MongoSettings

# A server that stops, starts, elects a new primary or cannot reach its majority just now.
_PASSING = frozenset(
    {6, 7, 43, 64, 89, 91, 112, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436}
)
_NO_ACCESS = frozenset({13, 18})
_TLS = "_ssl.c"  # Python names the line of its own source in what went wrong with TLS
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_TELL_EVERY = 60.0

T = TypeVar("T")
log = logging.getLogger(__name__)


class Reach:
    """A database, and the patience to wait for it."""

    def __init__(self, settings: MongoSettings) -> None:
        if settings.uri is None:
            raise StateError("state.mongo.uri is not set; give one, such as mongodb://host:27017")
        self.address = _address(settings)
        self._within = settings.timeout / 1_000_000
        self._given_up = threading.Event()
        self.client: MongoClient[dict[str, Any]] = _client(settings, self._within)
        weakref.finalize(self, self.client.close)  # who only reads is let go of, not closed
        self._settings = settings

    @cached_property
    def db(self) -> Db:
        """The database; asks the server what it is."""
        name = self._settings.database
        try:
            return self.client.get_database(name, write_concern=self._write_concern())
        except InvalidName as error:
            raise StateError(f"state.mongo.database {name!r}: {error}") from error

    def _write_concern(self) -> WriteConcern:
        hello = self.client.admin.command("hello")
        alone = "setName" not in hello and hello.get("msg") != "isdbgrid"
        wanted = self.client.write_concern
        if not (alone and wanted.document.get("w") == "majority"):
            return wanted
        # A server by itself is its own majority. Asked for one, some answer before the journal is
        # on disk; asked for one node and the journal, they do not.
        return WriteConcern(w=1, j=self._settings.journal)

    def first(self, work: Callable[[], T]) -> T:
        """Do what a start begins with: a server that cannot be reached is told at once."""
        try:
            return work()
        except (PyMongoError, BSONError) as error:
            raise self.told(error) from error

    def surely(self, work: Callable[[], T]) -> T:
        """Do something that may be done twice, as often as it takes while the server is away."""
        since: float | None = None
        told = pause = 0.0
        while True:
            try:
                result = work()
            except (PyMongoError, BSONError) as error:
                if not is_passing(error) or self._given_up.is_set():
                    raise self.told(error) from error
                now = time.monotonic()
                since = now if since is None else since
                if not told or now - told >= _TELL_EVERY:
                    told = now
                    log.warning(
                        "MongoDB at %s cannot be used (%s); the job waits, nothing is lost",
                        self.address,
                        _short(error),
                    )
                pause = min(max(_FIRST_PAUSE, 2 * pause), _LONGEST_PAUSE)
                self._given_up.wait(pause)
            else:
                if since is not None:
                    log.info("MongoDB is back after %.1f s", time.monotonic() - since)
                return result

    def give_up(self) -> None:
        """Have calls that wait end with an error, and later ones not wait at all."""
        self._given_up.set()

    def close(self) -> None:
        """Let go of the connections."""
        self.client.close()

    def told(self, error: Exception) -> StateError:
        """Return the sentence for an error of the client or the server."""
        if isinstance(error, OperationFailure) and error.code in _NO_ACCESS:
            return StateError(
                f"MongoDB at {self.address} refuses access ({_short(error)}); check "
                "state.mongo.username, password and auth_source, and the rights of the user on "
                "state.mongo.database"
            )
        if is_passing(error):
            return StateError(
                f"MongoDB at {self.address} cannot be used ({_short(error)}); check "
                f"{self._suspects(error)}, then start again: nothing is lost, and nothing goes out "
                "twice"
            )
        return StateError(f"MongoDB at {self.address} failed: {_short(error)}")

    def _suspects(self, error: Exception) -> str:
        if _TLS in str(error):
            return "state.mongo.tls, tls_ca_file and tls_certificate_key_file"
        return "state.mongo.uri and the server"


def is_passing(error: Exception) -> bool:
    """Tell whether the same call may well succeed a little later."""
    if isinstance(error, AutoReconnect | WTimeoutError | ExecutionTimeout):
        return True
    return isinstance(error, OperationFailure) and error.code in _PASSING


def _client(settings: MongoSettings, within: float) -> MongoClient[dict[str, Any]]:
    given: dict[str, Any] = {
        "username": settings.username,
        "password": settings.password and settings.password.get_secret_value(),
        "authSource": settings.auth_source,
        "replicaSet": settings.replica_set,
        "tls": settings.tls,
        "tlsCAFile": settings.tls_ca_file,
        "tlsCertificateKeyFile": settings.tls_certificate_key_file,
    }
    millis = int(within * 1000)
    assert settings.uri is not None  # noqa: S101
    try:
        return MongoClient(
            settings.uri.get_secret_value(),
            appname="duestream",
            w=settings.write_concern,
            journal=settings.journal,
            wTimeoutMS=millis,
            readConcernLevel=settings.read_concern,
            readPreference="primary",
            retryWrites=False,  # what is tried again is decided here
            serverSelectionTimeoutMS=millis,
            connectTimeoutMS=millis,
            socketTimeoutMS=4 * millis,
            **{name: value for name, value in given.items() if value is not None},
        )
    except (ConfigurationError, InvalidURI, ValueError, OSError) as error:
        raise StateError(f"{_setting(settings, error)} cannot be used: {_short(error)}") from error


def _setting(settings: MongoSettings, error: Exception) -> str:
    """Return the setting that a client could not be made with, as far as the error tells."""
    if "Private key" in str(error):
        return "state.mongo.tls_certificate_key_file"
    named = error.filename if isinstance(error, OSError) else None
    for setting in ("tls_ca_file", "tls_certificate_key_file"):
        if named is not None and named == getattr(settings, setting):
            return f"state.mongo.{setting}"
    return "state.mongo"


def _address(settings: MongoSettings) -> str:
    assert settings.uri is not None  # noqa: S101
    try:
        hosts = parse_uri(settings.uri.get_secret_value(), validate=False, warn=False)["nodelist"]
    except (ConfigurationError, InvalidURI, ValueError) as error:
        raise StateError(f"state.mongo.uri is not an address: {_short(error)}") from error
    return ", ".join(f"{host}:{port}" for host, port in hosts)


def _short(error: Exception) -> str:
    """Return the first sentence; the driver adds a description of the whole topology."""
    return str(error).split(", Timeout:")[0].split(" (configured timeouts")[0].split(", full")[0]
