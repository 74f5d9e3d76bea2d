"""On which condition somebody writes: only while a certain version is pending, or none is."""

import re
from dataclasses import dataclass

from pipeline.admin.problems import Problem

_TAG = re.compile(r'(W/)?"([^"]*)"')
_LIST = re.compile(r'\s*(?:W/)?"[^"]*"\s*(?:,\s*(?:W/)?"[^"]*"\s*)*')
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands under a key: the version that is pending, None if nothing is."""

    version: str | None
    sure: bool = True  # False: it was written a moment ago, and the job has not taken it yet


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold for a write; by default nothing."""

    versions: frozenset[str] | None = None  # one of these is pending
    pending: bool | None = None  # something is, or nothing is

    @property
    def asks(self) -> bool:
        """Whether there is anything to check."""
        return self.versions is not None or self.pending is not None

    @staticmethod
    def of_version(version: str | None) -> "Condition":
        """Return the condition that this version is pending; None asks for nothing."""
        return ANYHOW if version is None else Condition(frozenset({version}))

    @staticmethod
    def of_headers(if_match: str | None, if_none_match: str | None) -> "Condition":
        """Read the headers of a request; a Problem where they cannot be followed."""
        if if_match is not None and if_none_match is not None:
            raise Problem(
                422, "invalid_request", "if-match: stands beside if-none-match; send one of them"
            )
        if if_none_match is not None:
            if if_none_match.strip() != _ANY:
                raise Problem(
                    422, "invalid_request", 'if-none-match: only "*" is known: nothing is pending'
                )
            return Condition(pending=False)
        if if_match is None:
            return ANYHOW
        return Condition(pending=True) if if_match.strip() == _ANY else Condition(_tags(if_match))

    def check(self, standing: Standing) -> None:
        """Raise a Problem unless it holds."""
        if self.pending is False and standing.version is not None:
            raise _failed(f"the version {standing.version} is pending", standing)
        if self.pending is True and standing.version is None:
            raise _failed("nothing is pending", standing)
        if self.versions is not None and standing.version not in self.versions:
            what = "nothing" if standing.version is None else f"the version {standing.version}"
            raise _failed(f"{what} is pending, and not the one in if-match", standing)


ANYHOW = Condition()


def _tags(text: str) -> frozenset[str]:
    if not _LIST.fullmatch(text):
        raise Problem(
            422, "invalid_request", 'if-match: write the ETag of the message, such as "0-17", or *'
        )
    return frozenset(tag for weak, tag in _TAG.findall(text) if not weak)


def _failed(what: str, standing: Standing) -> Problem:
    how = "" if standing.sure else ", as written a moment ago"
    return Problem(
        412,
        "version_differs",
        f"{what}{how}; look at the message and decide again",
        version=standing.version,
    )
