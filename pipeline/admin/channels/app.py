"""Answers the HTTP calls of channels, with the paths and status codes of distribuerad."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.concurrency import run_in_threadpool

from pipeline.admin.channels.asked import (
    checked_name,
    read_action,
    read_event,
    read_job,
)
from pipeline.admin.channels.board import Event, Name
from pipeline.admin.channels.job_table import Job
from pipeline.admin.channels.service import Channels
from pipeline.admin.desk import Desk, desk_of, operator_of, viewer_of
from pipeline.admin.problems import Problem, tell_problems
from pipeline.admin.who import Principal, Role
from pipeline.clock import instant_text, now_micros
from pipeline.config.channels_block import ChannelSettings
from pipeline.config.spans import write_duration

_ANYBODY = Principal("channels", Role.OPERATOR)

router = APIRouter()


def channels_application(desk: Desk, channels: Channels) -> FastAPI:
    """Return the application."""
    app = FastAPI(title="duestream", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.desk = desk
    app.state.channels = channels
    tell_problems(app)
    app.include_router(router)
    return app


def _viewer(request: Request) -> Principal:
    return _ANYBODY if _settings(request).open else viewer_of(request)


def _operator(request: Request) -> Principal:
    if not _settings(request).open:
        return operator_of(request)
    if desk_of(request).settings.admin.read_only:
        raise Problem(403, "read_only", "admin.read_only is on: nothing can be changed here")
    return _ANYBODY


def _channel(channel: str) -> str:
    return checked_name(channel, "the channel")


def _service(request: Request) -> Channels:
    channels: Channels = request.app.state.channels
    return channels


def _settings(request: Request) -> ChannelSettings:
    return desk_of(request).settings.admin.channels


Viewer = Annotated[Principal, Depends(_viewer)]
Operator = Annotated[Principal, Depends(_operator)]
Channel = Annotated[str, Depends(_channel)]
Service = Annotated[Channels, Depends(_service)]


@router.post("/{channel}/events", status_code=201, include_in_schema=False)
@router.post("/{channel}/events/", status_code=201)
async def post_event(
    _who: Operator, channel: Channel, service: Service, request: Request
) -> dict[str, Any]:
    """Publish an event, now or at ``publishAt``."""
    asked = read_event(await request.body(), _settings(request), now_micros())
    return _shown(await run_in_threadpool(service.post, channel, asked), locked=False)


@router.get("/{channel}/events", include_in_schema=False)
@router.get("/{channel}/events/")
def get_events(_who: Viewer, channel: Channel, service: Service) -> dict[str, Any]:
    """List what is on a channel."""
    events = [_shown(event, locked) for event, locked in service.events(channel)]
    return {"channelName": channel, "count": len(events), "events": events}


@router.patch("/{channel}/events/{event}", status_code=202)
async def patch_event(
    _who: Operator, channel: Channel, event: str, service: Service, request: Request
) -> dict[str, Any]:
    """Lock or unlock an event."""
    deed, ttl = read_action(await request.body(), _settings(request))
    if not await run_in_threadpool(service.act, deed, Name(channel, event), ttl):
        raise Problem(410, "gone", f"{event}: is locked, or not on the channel {channel}")
    return {}


@router.delete("/{channel}/events/{event}", status_code=202)
def delete_event(who: Operator, channel: Channel, event: str, service: Service) -> dict[str, Any]:
    """Delete an event."""
    if not service.delete(Name(channel, event), who.name):
        raise Problem(404, "not_found", f"{event}: is not on the channel {channel}")
    return {}


@router.post("/{channel}/jobs/", status_code=201, include_in_schema=False)
@router.post("/{channel}/jobs", status_code=201)
async def post_job(
    _who: Operator, channel: Channel, service: Service, request: Request
) -> dict[str, Any]:
    """Define a job that publishes an event again and again."""
    asked = read_job(await request.body(), _settings(request))
    return _shown_job(await run_in_threadpool(service.define, channel, asked))


@router.get("/{channel}/jobs/", include_in_schema=False)
@router.get("/{channel}/jobs")
def get_jobs(_who: Viewer, channel: Channel, service: Service) -> dict[str, Any]:
    """List the jobs of a channel."""
    jobs = [_shown_job(job) for job in service.jobs(channel)]
    return {"channelName": channel, "count": len(jobs), "jobs": jobs}


@router.delete("/{channel}/jobs/{name}", status_code=202)
def delete_job(who: Operator, channel: Channel, name: str, service: Service) -> dict[str, Any]:
    """End a job."""
    if not service.end_job(channel, name, who.name):
        raise Problem(404, "not_found", f"{name}: is no job of the channel {channel}")
    return {}


def _shown(event: Event, locked: bool) -> dict[str, Any]:
    return {
        "eventID": event.name.event,
        "publishedAt": instant_text(event.published),
        "data": event.data,
        "livesUntil": instant_text(event.until),
        "isLocked": locked,
    }


def _shown_job(job: Job) -> dict[str, Any]:
    return {
        "name": job.name,
        "data": job.data,
        "cronDef": job.cron,
        "ttl": _go(job.ttl),
    }


def _go(micros: int) -> str:
    """Write a duration as Go has it, which knows no days."""
    text = write_duration(micros)
    return f"{24 * int(text[:-1])}h" if text.endswith("d") else text
