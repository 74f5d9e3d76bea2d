"""Serves the styles and scripts of the console."""

from fastapi import APIRouter, Request, Response

from pipeline.admin.console.assets import asset
from pipeline.admin.problems import Problem

router = APIRouter(include_in_schema=False)


@router.get("/static/{name}")
def static(request: Request, name: str) -> Response:
    """Answer with a file, unless the browser has it already."""
    try:
        found = asset(name)
    except FileNotFoundError:
        raise Problem(404, "not_found", f"there is no file {name}") from None
    mark = f'"{found.digest}"'
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers={"ETag": mark})
    return Response(found.content, media_type=found.kind, headers={"ETag": mark})
