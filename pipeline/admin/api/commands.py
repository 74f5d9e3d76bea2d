"""Tells who gave which command, why, and to what effect."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from pipeline.admin.api.asking import BEARER, key_of, require_text
from pipeline.admin.api.fields import Cursor, KeyInQuery
from pipeline.admin.api.figures_answers import CommandPage
from pipeline.admin.api.told import reading
from pipeline.admin.desk import State, Viewer
from pipeline.admin.listing import MOST
from pipeline.admin.trail import trail

router = APIRouter(prefix="/v1", tags=["state"], dependencies=[BEARER, Depends(require_text)])


@router.get("/commands", operation_id="list_commands", responses=reading())
def list_commands(
    _who: Viewer,
    state: State,
    key: Annotated[KeyInQuery | None, Query(description="only about this key")] = None,
    cursor: Cursor | None = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
) -> CommandPage:
    """List commands, the newest first, for as long as state.keep_closed keeps them."""
    found = trail(state, None if key is None else key_of(key), cursor, limit)
    return CommandPage.model_validate({"commands": found.commands, "next": found.next})
