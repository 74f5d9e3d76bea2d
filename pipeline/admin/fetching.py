"""Fetches small JSON documents that an issuer publishes, from where they are safe to take."""

import json
import urllib.request
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.parse import urlsplit

from pipeline.config.loopback import is_loopback

_TIMEOUT = 5.0  # seconds
_LARGEST = 1_000_000  # bytes


class NotFetched(Exception):
    """The document cannot be had; the text says why."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an error: it could lead anywhere, also to where it is not safe."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Follow none."""


_OPENER = urllib.request.build_opener(_NoRedirects())


def is_safe(url: str) -> bool:
    """Tell whether nobody on the way could change what an address answers."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return True
    return parts.scheme == "http" and is_loopback(parts.hostname or "")


def fetched_json(url: str) -> dict[str, Any]:
    """Return a JSON object; NotFetched if there is none."""
    if not is_safe(url):
        raise NotFetched(f"{url} is not https")
    try:
        with _OPENER.open(url, timeout=_TIMEOUT) as answer:
            said = json.loads(answer.read(_LARGEST))
    except (OSError, HTTPException, ValueError) as error:
        raise NotFetched(f"{url}: {error}") from error
    if not isinstance(said, dict):
        raise NotFetched(f"{url} is no JSON object")
    return said
