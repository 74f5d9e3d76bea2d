"""Sends what the web process was asked to do, as events on the input topics."""

import threading
from datetime import timedelta

from pipeline.admin.problems import Problem
from pipeline.client import Client
from pipeline.config.settings import Settings

_TIMEOUT = timedelta(seconds=10)
_SPOKEN = "cloudevents"  # the dialect that the client writes


class Sending:
    """Has a client for each input topic that is written to; many threads may use it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._connecting = threading.Lock()
        self._clients: dict[str, Client] = {}

    @property
    def default_source(self) -> str | None:
        """The input topic that a message goes to if none is named: the first that takes events."""
        spoken = (each.topic for each in self._settings.sources if each.dialect == _SPOKEN)
        return next(spoken, None)

    def source(self, named: str | None) -> str:
        """Return the input topic that was named, or the default; a Problem if it is no such."""
        if named is None:
            if self.default_source is None:
                raise Problem(
                    409,
                    "no_source",
                    "none of sources[] has the dialect cloudevents; add one, with the namespace of "
                    "the topic whose schedules are meant",
                )
            return self.default_source
        known = {each.topic: each.dialect for each in self._settings.sources}
        if named not in known:
            raise Problem(422, "unknown_source", f"source: {named} is not one of sources[].topic")
        if known[named] != _SPOKEN:
            raise Problem(
                409,
                "foreign_source",
                f"source: {named} speaks {known[named]}; events can be sent to topics of the "
                "dialect cloudevents only, such as one that shares its namespace",
            )
        return named

    def client(self, source: str) -> Client:
        """Return the client for an input topic."""
        with self._connecting:
            if source not in self._clients:
                self._clients[source] = Client(self._settings, topic=source, timeout=_TIMEOUT)
            return self._clients[source]

    def close(self) -> None:
        """Wait until Kafka has everything."""
        with self._connecting:
            for client in self._clients.values():
                client.flush()
            self._clients.clear()
