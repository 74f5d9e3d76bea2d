"""Shows what is in force: settings with secrets masked, health, the store, versions."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import yaml
from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from pipeline.admin.console.job import ask_job
from pipeline.admin.console.overview import is_stuck
from pipeline.admin.console.render import page
from pipeline.admin.console.visit import Visiting
from pipeline.admin.desk import State
from pipeline.clock import now_micros
from pipeline.config.settings import Settings
from pipeline.config.show import HIDDEN, shown

router = APIRouter(include_in_schema=False)

_PACKAGES = (
    "duestream",
    "fastapi",
    "uvicorn",
    "deltalake",
    "pymongo",
    "confluent-kafka",
    "pyspark",
)


@router.get("/system")
def system(visit: Visiting, state: State) -> HTMLResponse:
    """Show it."""
    now = now_micros()
    stats = state.stats(now)
    return page(
        visit,
        "system.html",
        stats=stats,
        last=state.moment().at,
        stuck=is_stuck(stats, now, visit.settings),
        says=ask_job(visit.settings.metrics),
        store=store_facts(visit.settings),
        keeps_earlier=state.keeps_earlier,
        versions=versions(),
        settings_text=settings_text(visit.settings),
    )


def settings_text(settings: Settings) -> str:
    """Return all settings as a file would hold them; what stands for a token is hidden, too."""
    told = shown(settings)
    for token in told["admin"]["tokens"]:
        token["sha256"] = HIDDEN
    return yaml.safe_dump(told, sort_keys=False, allow_unicode=True)


def store_facts(settings: Settings) -> dict[str, Any]:
    """Return where the state is; a password in its address is not part of that."""
    kept = settings.state
    if kept.kind == "mongo":
        return {"kind": "MongoDB", "place": kept.mongo.database}
    return {"kind": "Delta", "place": kept.delta.path}


def versions() -> dict[str, str]:
    """Return the version of everything that matters and is installed here."""
    found = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
