"""The web console: pages for people, rendered here, which work without any script."""

from fastapi import APIRouter

from pipeline.admin.console import (
    act,
    bulk_page,
    commands,
    did,
    letter,
    letters,
    message,
    messages,
    overview,
    repeats,
    schedule,
    static,
    system,
    theme,
    topics,
)

_PAGES = (
    *(overview, messages, message, repeats, letters, letter, topics, commands, system),
    *(schedule, act, bulk_page, did, theme, static),
)


def console_routers() -> list[APIRouter]:
    """Return all pages of the console."""
    return [page.router for page in _PAGES]
