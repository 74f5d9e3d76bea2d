"""A web process without a job: an empty state, pages to try the doors with, browsers to visit."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from fastapi import APIRouter, Request

from pipeline.admin.app import web_app
from pipeline.admin.desk import Operator, Viewer
from pipeline.admin.guard.order import guarded
from pipeline.admin.pages.visiting import Actor, Visitor, form_token
from pipeline.config.load import load_settings
from pipeline.config.settings import Settings
from state.open import make_state
from tests.admin.office import OPERATOR, TOKENS, served

KEY = "a session key that is long enough to be one"
probe = APIRouter()


@probe.get("/probe/page")
def page(who: Visitor, request: Request) -> dict[str, str]:
    return {"name": who.name, "role": who.role, "csrf": form_token(request)}


@probe.get("/probe/keys/{key:path}")
def of_key(_who: Visitor, key: str) -> dict[str, str]:
    return {"key": key}


@probe.post("/probe/act")
def act(who: Actor) -> dict[str, str]:
    return {"name": who.name}


@probe.get("/probe/api")
def look(who: Viewer) -> dict[str, str]:
    return {"name": who.name, "role": who.role}


@probe.post("/probe/api")
async def change(who: Operator, request: Request) -> dict[str, object]:
    return {"name": who.name, "size": len(await request.body())}


@probe.get("/probe/whence")
def whence(request: Request) -> dict[str, object]:
    return {
        "path": request.scope["path"],
        "root_path": request.scope["root_path"],
        "scheme": request.scope["scheme"],
        "client": request.client.host if request.client else None,
    }


def settings_for(folder: Path, **flags: object) -> Settings:
    """Settings of a web process whose state is there and empty; ``__`` stands for a dot."""
    named = {f"admin.{name.replace('__', '.')}": value for name, value in flags.items()}
    settings = load_settings(
        flags={
            "sources": [{"topic": "in"}],
            "outputs.allow": ["out"],
            "state.delta.path": str(folder / "state"),
            "admin.port": "0",
            "admin.tokens": TOKENS,
            "admin.session_key": KEY,
            "admin.rate_limit": "10000",
        }
        | named,
        environ={},
    )
    make_state(settings.state)
    return settings


@contextmanager
def house(folder: Path, **flags: object) -> Iterator[str]:
    """Serve the application with the pages above; yield its address."""
    settings = settings_for(folder, **flags)
    app = web_app(settings)
    app.include_router(probe)
    with served(settings, guarded(app)) as url:
        yield url


@contextmanager
def browser(url: str, token: str | None = None) -> Iterator[httpx.Client]:
    """A visitor with cookies, logged in if a token is given."""
    with httpx.Client(base_url=url, timeout=30) as visiting:
        if token is not None:
            assert visiting.post("/login", data={"token": token}).status_code == 303
        yield visiting


def ask(url: str, token: str | None = OPERATOR) -> httpx.Client:
    """A program that bears a token; use it as a context."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return httpx.Client(base_url=url, headers=headers, timeout=30)
