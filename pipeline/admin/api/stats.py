"""Answers with counts: the state at a glance, what comes, how late messages were, topics."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from pipeline.admin import figures
from pipeline.admin.api.asking import BEARER, instant_of, require_text
from pipeline.admin.api.fields import Topic, When
from pipeline.admin.api.figures_answers import Forecast, Lateness, Stats, TopicList
from pipeline.admin.api.told import reading
from pipeline.admin.desk import State, Viewer
from state.duration import parse_duration
from state.errors import ConfigError

router = APIRouter(prefix="/v1", tags=["state"], dependencies=[BEARER, Depends(require_text)])

OutputTopic = Annotated[Topic | None, Query(description="only this output topic")]


@router.get("/stats", operation_id="get_stats", responses=reading())
def get_stats(_who: Viewer, state: State) -> Stats:
    """Count: what was accepted, where it is now, what is due next."""
    return Stats.model_validate(figures.stats(state))


@router.get("/forecast", operation_id="get_forecast", responses=reading())
def get_forecast(
    _who: Viewer,
    state: State,
    since: Annotated[When, Query(alias="from")] = "+0s",
    until: Annotated[When, Query(alias="to")] = "+6h",
    step: Annotated[str, Query(max_length=40, description="a duration, 1s or more")] = "1m",
    topic: OutputTopic = None,
    repeats: Annotated[bool, Query(description="whether coming occurrences count")] = True,
) -> Forecast:
    """Count what falls due, by steps and output topics, at most 366 days ahead."""
    begin, end = instant_of(since, "from") or 0, instant_of(until, "to") or 0
    return Forecast.model_validate(figures.forecast(state, begin, end, _span(step), topic, repeats))


@router.get("/lateness", operation_id="get_lateness", responses=reading())
def get_lateness(
    _who: Viewer, state: State, since: When = "-1h", topic: OutputTopic = None
) -> Lateness:
    """Tell how late messages went out since an instant, as far as their rows are kept."""
    return Lateness.model_validate(figures.late(state, instant_of(since, "since") or 0, topic))


@router.get("/topics", operation_id="list_topics", responses=reading())
def list_topics(_who: Viewer, state: State) -> TopicList:
    """Count what is pending by output topic, and tell which topics are paused."""
    return TopicList.model_validate({"topics": figures.topics(state)})


def _span(text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise ConfigError(f"step: {error}") from error
