"""Tells what is wrong with settings: one sentence for each, after the path of the setting."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pipeline.config.nearest import did_you_mean
from pipeline.config.spans import write_duration
from pipeline.config.tree import Setting, block_at, fields_of
from state.errors import ConfigError
from state.settings import Block


class Problem(NamedTuple):
    """What is wrong with one setting."""

    path: str
    sentence: str


def refusal(problems: Iterable[Problem]) -> ConfigError:
    """Return the error that lists all problems, each on a line of its own."""
    return ConfigError("\n".join(f"{path}: {sentence}" for path, sentence in problems))


def problems_in(error: ValidationError, model: type[Block]) -> list[Problem]:
    """Translate what pydantic says about the settings of ``model``."""
    details = error.errors(include_url=False)
    return [Problem(_written(detail["loc"]), _sentence(detail, model)) for detail in details]


def _written(place: tuple[int | str, ...]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".").removesuffix(".[key]")


def _sentence(detail: ErrorDetails, model: type[Block]) -> str:
    if detail["type"] == "extra_forbidden":
        block = block_at(model, detail["loc"][:-1]) or model
        right = [setting.path for setting in fields_of(block)]
        return f"unknown setting; {did_you_mean(str(detail['loc'][-1]), right)}"
    say = _SENTENCES.get(detail["type"])
    context = {"input": detail["input"], **detail.get("ctx", {})}
    return say(_readable(context, detail["loc"], model)) if say else detail["msg"]


def _readable(
    context: dict[str, Any], place: tuple[int | str, ...], model: type[Block]
) -> dict[str, Any]:
    """Write the bounds of a duration as durations; they are held in microseconds."""
    setting = _setting_at(place, model)
    if setting is None or not setting.is_duration:
        return context
    bounds = {name: context[name] for name in ("ge", "le") if name in context}
    return context | {name: write_duration(bound) for name, bound in bounds.items()}


def _setting_at(place: tuple[int | str, ...], model: type[Block]) -> Setting | None:
    block = block_at(model, place[:-1])
    if block is None:
        return None
    return next((setting for setting in fields_of(block) if setting.path == place[-1]), None)


# A value is repeated only where it cannot be a secret.
_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    "missing": lambda _: "is required",
    "literal_error": lambda c: f"{c['input']!r} is not known; choose {c['expected']}",
    "int_parsing": lambda c: f"{c['input']!r} is not a whole number",
    "int_type": lambda c: f"{c['input']!r} is not a whole number",
    "int_from_float": lambda c: f"{c['input']!r} is not a whole number",
    "bool_parsing": lambda c: f"{c['input']!r} is neither true nor false",
    "bool_type": lambda c: f"{c['input']!r} is neither true nor false",
    "greater_than_equal": lambda c: f"must be at least {c['ge']}",
    "less_than_equal": lambda c: f"must be at most {c['le']}",
    "string_type": lambda _: "must be a text; put it in quotes",
    "string_too_short": lambda _: "must not be empty",
    "too_short": lambda _: "must not be empty",
    "list_type": lambda _: "must be a list, such as [a, b]",
    "dict_type": lambda _: "must be a map of names and values",
    "model_type": lambda _: "must be a block of settings; give some, or leave it out",
    "model_attributes_type": lambda _: "must be a block of settings; give some, or leave it out",
    "value_error": lambda c: str(c["error"]),
}
