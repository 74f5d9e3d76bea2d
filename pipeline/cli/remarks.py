"""What a person orders, and what is said with it."""

from __future__ import annotations

import getpass
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.client import Client, Receipt


@dataclass(frozen=True, slots=True)
class Remarked:
    """Why, by whom, on which condition, and who is told."""

    reason: str | None
    actor: str | None
    if_version: str | None
    reply_to: str | None

    def as_arguments(self) -> dict[str, str | None]:
        """Return it as the client takes it."""
        return {
            "reason": self.reason,
            "actor": self.actor,
            "if_version": self.if_version,
            "reply_to": self.reply_to,
        }


@dataclass(frozen=True, slots=True)
class Order:
    """One of the client's commands, by its name there, and all it is called with but the key."""

    name: str
    said: Remarked
    more: dict[str, Any] = field(default_factory=dict)
    scope: str | None = None  # in words, where it is not about keys

    @property
    def words(self) -> str:
        """What people call it."""
        return self.name.replace("_", "-")

    def with_scope(self, topic: str | None = None, everything: bool = False) -> Order:
        """Return the same for an output topic, or for everything."""
        scope = "everything" if everything else f"the topic {topic}"
        return replace(self, more={"topic": topic, "everything": everything}, scope=scope)

    def give(
        self, client: Client, key: bytes | None, said: Remarked, *, wait: bool = True
    ) -> Receipt:
        """Send it, about one key or its scope."""
        about = () if key is None else (key,)
        receipt: Receipt = getattr(client, self.name)(
            *about, **self.more, **said.as_arguments(), wait=wait
        )
        return receipt


def remarked(
    reason: str | None, actor: str | None, if_version: str | None, reply_to: str | None
) -> Remarked:
    """Return what was said, and who said it if that was left out."""
    return Remarked(reason, actor or _user(), if_version, reply_to)


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user id without a name, as in containers
        return None
