"""The HTTP API, below /v1."""

from fastapi import APIRouter

from pipeline.admin.api import (
    bulk,
    commands,
    dead_letters,
    dispatch,
    messages,
    posting,
    stats,
    writing,
)


def routers() -> list[APIRouter]:
    """Return all parts of the API."""
    parts = (messages, posting, writing, dispatch, bulk, dead_letters, commands, stats)
    return [part.router for part in parts]
