"""Keeps librdkafka from writing to stderr: what matters is raised, and told in a sentence."""

from collections.abc import Mapping

Options = dict[str, str | int | float | bool]


def quiet(options: Mapping[str, str | int | float | bool]) -> Options:
    """Return options of a client that says only what nobody else can say."""
    return {"log_level": 2, **options}
