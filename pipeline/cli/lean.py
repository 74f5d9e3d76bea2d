"""Keeps pandas out of the commands that only read."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType

_WANT_PANDAS = ("pandas", "pyspark")


class _NoPandas(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=fullname)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Import pyarrow.dataset inside as if pandas were not installed.

    It loads pandas whenever it finds it, which is more than a third of what a reading command
    takes. Where pandas or Spark is at work already nothing is kept out.
    """
    if any(name in sys.modules for name in _WANT_PANDAS):
        yield
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
