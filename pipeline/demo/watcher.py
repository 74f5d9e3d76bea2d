"""Watches the output and dead-letter topics as any reader of committed messages would."""

import threading
from dataclasses import dataclass

from confluent_kafka import Consumer, Message

REASON = "duestream-reason"


@dataclass(frozen=True, slots=True)
class Seen:
    """One message that came out."""

    topic: str
    key: str
    text: str
    at: int  # milliseconds: when the broker appended it
    reason: str | None  # set on a dead letter


class Watcher:
    """Reads topics in a thread of its own from ``start`` to ``stop``."""

    def __init__(self, bootstrap_servers: str, topics: list[str]) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "duestream-demo",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe(topics)
        self._seen: list[Seen] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()
        self._thread.join()
        self._consumer.close()

    @property
    def published(self) -> list[Seen]:
        """The messages seen so far, oldest first."""
        return [each for each in list(self._seen) if each.reason is None]

    @property
    def dead_letters(self) -> list[Seen]:
        """The dead letters seen so far, oldest first."""
        return [each for each in list(self._seen) if each.reason is not None]

    def _watch(self) -> None:
        while not self._stopped.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and message.error() is None:
                self._seen.append(_seen(message))


def _seen(message: Message) -> Seen:
    headers = dict(message.headers() or [])
    reason = headers.get(REASON)
    return Seen(
        message.topic() or "",
        (message.key() or b"").decode(errors="replace"),
        (message.value() or b"").decode(errors="replace"),
        message.timestamp()[1],
        bytes(reason).decode() if isinstance(reason, bytes) else None,
    )
