"""Which tests stay together when two processes share them: those that need the same running job.

A job that runs beside other tests takes its part of two cores. So the tests of the web process are
taken store by store: one process has the job on Delta, the other that on MongoDB, and each job
ends with the last test that asks for it. All others stay together by file.
"""

import re

import pytest
from xdist.scheduler import LoadScopeScheduling

_ADMIN = "tests/admin/"
_STORE = re.compile(r"[\[-](delta|mongo)[\]-]")
_CHANNELS = re.compile(r"test_channels_(events|jobs|killed)\.py")
_APART = ("", "channels", "delta", "mongo")  # in this order within a process


class ByJob(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out tests by the job they need, or else by file."""

    def _split_scope(self, nodeid: str) -> str:
        return job_of(nodeid) or nodeid.split("::", 1)[0]


def job_of(nodeid: str) -> str:
    """Name the job of the web process that a test needs; nothing if it needs none."""
    if not nodeid.startswith(_ADMIN):
        return ""
    if _CHANNELS.search(nodeid):
        return "channels"
    found = _STORE.search(nodeid)
    return found[1] if found else ""


def by_job(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests in an order in which each such job is begun once; others stay in place."""
    admin = [item for item in items if item.nodeid.startswith(_ADMIN)]
    sorted_ones = iter(sorted(admin, key=lambda item: _APART.index(job_of(item.nodeid))))
    return [next(sorted_ones) if item.nodeid.startswith(_ADMIN) else item for item in items]
