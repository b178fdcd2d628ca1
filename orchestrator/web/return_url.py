"""URLs to which people are redirected. They always point to console pages."""

import re
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.routing import Match

from orchestrator.settings import AccessSettings

HOME = "/console"
_CONSOLE_URL = re.compile(r"/console(?:/(?!\.{1,2}(?:[/?]|\Z))[\w.-]{1,300})*(?:\?[\w=&.,%+:~-]{0,1500})?", re.ASCII)
"""Matches console URLs. No path segment may be empty, `.` or `..`, because browsers resolve these before the
request."""


def to_console_path(url: str) -> str:
    """Return the path to open after sign-in: `url` if it is a console page, otherwise the home page."""
    return url if _CONSOLE_URL.fullmatch(url) else HOME


def find_requesting_page(request: Request, settings: AccessSettings, header: str = "referer") -> str:
    """Return the console page from which a request came, according to the header; the home page if the header does not
    name one. A URL that only receives forms is replaced by its parent page."""
    referrer = urlsplit(request.headers.get(header, ""))
    own_host = request.headers.get("host", "") if settings.url is None else urlsplit(settings.url).netloc
    path = to_console_path(referrer.path)
    if referrer.netloc != own_host or not _is_page(request, path):
        parent_path = path.rpartition("/")[0]
        return parent_path if referrer.netloc == own_host and _is_page(request, parent_path) else HOME
    return to_console_path(f"{path}?{referrer.query}") if referrer.query else path


def _is_page(request: Request, path: str) -> bool:
    scope = {**request.scope, "path": path, "method": "GET"}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.router.routes)
