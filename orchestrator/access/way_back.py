"""Where people are led back to: a page of the console and nothing else."""

import re
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.routing import Match

from orchestrator.settings import AccessSettings

__all__ = ["HOME", "local_path", "page_asked_from"]

HOME = "/console"
_LOCAL = re.compile(r"/console(?:/(?!\.{1,2}(?:[/?]|\Z))[\w.-]{1,300})*(?:\?[\w=&.,%+:~-]{0,1500})?", re.ASCII)
"""No segment is `.` or `..`, which browsers take away before they ask, or empty."""


def local_path(said: str) -> str:
    """Where to go after signing in: a page of the console and nowhere else."""
    return said if _LOCAL.fullmatch(said) else HOME


def page_asked_from(request: Request, settings: AccessSettings, told: str = "referer") -> str:
    """The page of ours on which a form or a part stood, by the header that tells it; home where none is told. The
    address of a form, at which no page stands, becomes that of the page above it."""
    said = urlsplit(request.headers.get(told, ""))
    ours = request.headers.get("host", "") if settings.url is None else urlsplit(settings.url).netloc
    path = local_path(said.path)
    if said.netloc != ours or not _can_be_opened(request, path):
        above = path.rpartition("/")[0]
        return above if said.netloc == ours and _can_be_opened(request, above) else HOME
    return local_path(f"{path}?{said.query}") if said.query else path


def _can_be_opened(request: Request, path: str) -> bool:
    scope = {**request.scope, "path": path, "method": "GET"}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)
