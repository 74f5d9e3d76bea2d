"""Finds the source that a migration is about, among the settings or beside them."""

from typing import get_args

from pipeline.config.blocks import Dialect, SourceSettings
from pipeline.config.checks import contradictions
from pipeline.config.nearest import did_you_mean
from pipeline.config.problems import refusal
from pipeline.config.settings import DEFAULT_SOURCE, Settings
from pipeline.config.topics import checked_topic
from state.errors import ConfigError


def to_look_at(
    settings: Settings, topic: str, dialect: str | None, output_topic: str | None
) -> tuple[Settings, SourceSettings]:
    """Return the source, and settings that have it: those given, or with it added."""
    known = _known(settings, topic, dialect)
    if known is not None:
        if output_topic not in (None, known.output_topic):
            raise ConfigError(
                f"--output-topic: the settings say {known.output_topic or 'none'} for {topic}; "
                "leave the option out, or change sources[].output_topic"
            )
        return settings, known
    if dialect is None:
        raise ConfigError(f"--dialect: give the one of {topic}; it is none of sources[].topic")
    try:
        source = SourceSettings.model_validate(
            {"topic": checked_topic(topic), "dialect": dialect, "output_topic": output_topic}
        )
    except ValueError as error:
        raise ConfigError(
            f"--source, --output-topic: {topic} is not the name of a topic"
        ) from error
    others = [each for each in settings.sources if each != DEFAULT_SOURCE]
    with_it = settings.model_copy(update={"sources": [*others, source]})
    own = f"sources[{len(others)}].output_topic"
    problems = [
        each._replace(path="--output-topic") if each.path == own else each
        for each in contradictions(with_it)
    ]
    if problems:
        raise refusal(problems)
    return with_it, source


def to_take(settings: Settings, topic: str, dialect: str | None) -> SourceSettings:
    """Return the source; it must be one that the job will read."""
    known = _known(settings, topic, dialect)
    if known is None:
        raise ConfigError(
            f"--source: {topic} is none of sources[].topic; add it there with its dialect, for the "
            "job is to go on with it after the import"
        )
    return known


def _known(settings: Settings, topic: str, dialect: str | None) -> SourceSettings | None:
    dialects = get_args(Dialect)
    if dialect is not None and dialect not in dialects:
        raise ConfigError(f"--dialect: {dialect} is not known; {did_you_mean(dialect, dialects)}")
    known = next((source for source in settings.sources if source.topic == topic), None)
    if known is not None and dialect not in (None, known.dialect):
        raise ConfigError(
            f"--dialect: the settings say {known.dialect} for {topic}; leave the option out, or "
            "change sources[].dialect"
        )
    return known
