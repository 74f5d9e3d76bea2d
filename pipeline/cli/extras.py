"""Says which extra to install when a package is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from state.errors import SetupError

_EXTRAS = {
    "pyspark": "spark",
    "py4j": "spark",
    "delta": "spark",
    "pandas": "spark",
    "pymongo": "mongo",
    "opentelemetry": "metrics",
    "prometheus_client": "metrics",
    "fastapi": "admin",
    "starlette": "admin",
    "uvicorn": "admin",
    "jinja2": "admin",
    "jwt": "admin",
    "multipart": "admin",
    "python_multipart": "admin",
}


@contextmanager
def extras_told() -> Iterator[None]:
    """Turn the absence of an optional package into the sentence that helps."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        raise SetupError(
            f"{package} is not installed; install duestream[{_EXTRAS[package]}]"
        ) from error
