"""URLs to which people are sent back; these are always pages of the console."""

import re
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.routing import Match

from orchestrator.settings import AccessSettings

HOME = "/console"
_LOCAL = re.compile(r"/console(?:/(?!\.{1,2}(?:[/?]|\Z))[\w.-]{1,300})*(?:\?[\w=&.,%+:~-]{0,1500})?", re.ASCII)
"""Pattern of console URLs; no path segment is empty, `.` or `..`, which browsers remove before the request."""


def local_path(url: str) -> str:
    """Return the path to open after sign-in: `url` if it is a page of the console, otherwise the home page."""
    return url if _LOCAL.fullmatch(url) else HOME


def page_asked_from(request: Request, settings: AccessSettings, header: str = "referer") -> str:
    """Return the console page that contained a form or page fragment, as named by the header; the home page if the
    header names none. A URL that only receives forms is replaced by the page above it."""
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
