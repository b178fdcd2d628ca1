"""URLs to which people are redirected. They always point to console pages."""

import re
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.routing import Match

from orchestrator.settings import AccessSettings

HOME = "/console"
_LOCAL = re.compile(r"/console(?:/(?!\.{1,2}(?:[/?]|\Z))[\w.-]{1,300})*(?:\?[\w=&.,%+:~-]{0,1500})?", re.ASCII)
"""Matches console URLs. No path segment may be empty, `.` or `..`, because browsers resolve these before the
request."""


def local_path(url: str) -> str:
    """Return the path to open after sign-in: `url` if it is a console page, otherwise the home page."""
    return url if _LOCAL.fullmatch(url) else HOME


def requesting_page(request: Request, settings: AccessSettings, header: str = "referer") -> str:
    """Return the console page from which a request came, according to the header; the home page if the header does not
    name one. A URL that only receives forms is replaced by its parent page."""
    referrer = urlsplit(request.headers.get(header, ""))
    ours = request.headers.get("host", "") if settings.url is None else urlsplit(settings.url).netloc
    path = local_path(referrer.path)
    if referrer.netloc != ours or not _can_be_opened(request, path):
        above = path.rpartition("/")[0]
        return above if referrer.netloc == ours and _can_be_opened(request, above) else HOME
    return local_path(f"{path}?{referrer.query}") if referrer.query else path


def _can_be_opened(request: Request, path: str) -> bool:
    scope = {**request.scope, "path": path, "method": "GET"}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)
