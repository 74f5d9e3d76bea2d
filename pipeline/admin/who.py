"""Who asks, and what they may do."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What somebody may do."""

    VIEWER = "viewer"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who may look, and perhaps act; ``name`` stands beside what they do.

    ``mark`` tells by which credential they were let in, without giving it away, and ``until``, in
    seconds since the epoch, how long that one holds.
    """

    name: str
    role: Role
    mark: str = ""
    until: int | None = None

    @property
    def may_act(self) -> bool:
        """Whether they may change anything."""
        return self.role is Role.OPERATOR


# Where nobody is asked who they are, on loopback only: whoever uses this machine.
LOCAL = Principal("local", Role.OPERATOR, mark="local")
