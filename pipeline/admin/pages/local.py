"""Keeps links and redirects on this server."""

from urllib.parse import quote, urlsplit

from fastapi import Request

_SAFE = "/:?=&%+,;@~!$'()*-._[]"
_PRINTABLE = 0x20


def link(request: Request, path: str) -> str:
    """Return the address of a path such as ``/login``, below the base path."""
    return f"{request.scope.get('root_path', '')}{path}"


def local_or_home(request: Request, wanted: str) -> str:
    """Return a path of this server that somebody asked to go to; the first page if it is not."""
    return quote(wanted, safe=_SAFE) if _is_local(request, wanted) else link(request, "/")


def path_of(request: Request) -> str:
    """Return what was asked for, as a path with its query; encoded as it came."""
    path = request.scope["raw_path"].decode("latin-1")
    query = request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def _is_local(request: Request, wanted: str) -> bool:
    if "\\" in wanted or any(ord(sign) < _PRINTABLE or ord(sign) == 0x7F for sign in wanted):
        return False  # browsers read \ as /, and leave out what is not printable
    if not wanted.startswith(link(request, "/")) or wanted.startswith("//"):
        return False
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return False
    return not parts.scheme and not parts.netloc
