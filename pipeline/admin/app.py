"""Puts the web application together: what it answers, in front of which desk."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.types import ASGIApp

from pipeline.admin.api import routers
from pipeline.admin.api.document import ABOUT, TITLE, document
from pipeline.admin.console import console_routers
from pipeline.admin.console.wrong import problem_page
from pipeline.admin.desk import Desk
from pipeline.admin.guard.order import guarded
from pipeline.admin.pages import login
from pipeline.admin.problems import tell_problems
from pipeline.config.settings import Settings


def application(settings: Settings) -> ASGIApp:
    """Return the application, ready to be served."""
    return guarded(web_app(settings))


def web_app(settings: Settings) -> FastAPI:
    """Return what the application answers, without what guards it."""
    desk = Desk.of(settings)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = FastAPI(
        title=TITLE,
        version=version("duestream"),
        description=ABOUT,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
    )
    app.state.desk = desk
    tell_problems(app, problem_page)
    for router in [*routers(), *console_routers()]:
        app.include_router(router)
    app.include_router(login.router)
    app.openapi = document  # type: ignore[method-assign]
    return app
