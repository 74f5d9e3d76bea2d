"""What every request is answered with: the settings, the state, the way to Kafka, and the doors."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from pipeline.admin.doors import Doors
from pipeline.admin.looking import Looking
from pipeline.admin.problems import Problem
from pipeline.admin.replays import Replays
from pipeline.admin.sending import Sending
from pipeline.admin.sessions import Sessions
from pipeline.admin.who import Principal
from pipeline.admin.writes import Writes
from pipeline.config.admin_block import AdminSettings
from pipeline.config.settings import Settings
from state.inspect import Inspector


@dataclass(frozen=True, slots=True)
class Desk:
    """One for the whole process; it is ``app.state.desk``."""

    settings: Settings
    looking: Looking
    sending: Sending
    doors: Doors
    sessions: Sessions
    writes: Writes
    replays: Replays

    @staticmethod
    def of(settings: Settings) -> "Desk":
        """Return a desk; nothing is opened before it is asked for."""
        doors = Doors(settings.admin)
        return Desk(
            settings,
            Looking(settings),
            Sending(settings),
            doors,
            Sessions(settings.admin, doors),
            Writes(settings.state.keep_closed),
            Replays(),
        )

    def close(self) -> None:
        """Let go of what was opened."""
        self.sending.close()


def desk_of(request: Request) -> Desk:
    """Return the desk of the process."""
    desk: Desk = request.app.state.desk
    return desk


def viewer_of(request: Request) -> Principal:
    """Return who asks; a Problem if they may not even look."""
    return desk_of(request).doors.let_in(request)


def operator_of(request: Request) -> Principal:
    """Return who asks; a Problem if they may not act."""
    who = viewer_of(request)
    require_operator(desk_of(request).settings.admin, who)
    return who


def require_operator(settings: AdminSettings, who: Principal) -> None:
    """Raise a Problem if somebody may look and not act."""
    if settings.read_only:
        raise Problem(403, "read_only", "admin.read_only is on: nothing can be changed here")
    if not who.may_act:
        raise Problem(403, "not_allowed", f"{who.name} may look and not act; ask for an operator")


def inspector_of(request: Request) -> Inspector:
    """Return the state."""
    return desk_of(request).looking.inspector()


AtDesk = Annotated[Desk, Depends(desk_of)]
Viewer = Annotated[Principal, Depends(viewer_of)]
Operator = Annotated[Principal, Depends(operator_of)]
State = Annotated[Inspector, Depends(inspector_of)]
