"""Knows the styles and scripts of the console, under addresses that change with their content."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, its kind, and the digest that stands for just this content."""

    content: bytes
    kind: str
    digest: str


@lru_cache(maxsize=16)
def asset(name: str) -> Asset:
    """Return a file by its plain name; FileNotFoundError if there is none."""
    ending = name.rpartition(".")[2]
    if ending not in _KINDS or "/" in name or "\\" in name:
        raise FileNotFoundError(name)
    content = (files("pipeline.admin.console") / "static" / name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Asset(content, f"{_KINDS[ending]}; charset=utf-8", digest)
