"""Requests that a person's browser makes for a page of its own: below `/console`, or a link from there to `/v1`."""

from starlette.datastructures import Headers
from starlette.types import Scope

from orchestrator.access.signed_in import SignedIn
from orchestrator.access.way_back import HOME
from orchestrator.api.content_negotiation import preferred_media_type
from orchestrator.api.problems import MEDIA_TYPE
from orchestrator.jobs.api_keys import AuthenticatedCaller

__all__ = ["asked_by_browser", "visitor"]


def asked_by_browser(scope: Scope) -> bool:
    """What a script asks for as a part of a page is no page, and whoever sends a key is a program."""
    path, method, headers = scope["path"], scope["method"], Headers(scope=scope)
    page = (path == HOME or path.startswith(f"{HOME}/")) and method in ("GET", "POST")
    if not page and not (path.startswith("/v1/") and method == "GET" and "authorization" not in headers):
        return False
    accepted = preferred_media_type(headers.get("accept"), (MEDIA_TYPE, "application/json", "text/html"))
    return accepted == "text/html" and headers.get("hx-request") != "true"


def visitor(scope: Scope) -> SignedIn | None:
    """Who has signed in, if that was found out before the request was refused, and the request is for a page."""
    found: SignedIn | None = scope.get("assayer.person")
    caller: AuthenticatedCaller | None = scope.get("assayer.caller")
    if found is not None or caller is None or caller.role == "machine" or not asked_by_browser(scope):
        return found
    return SignedIn(tenant=caller.tenant, subject=str(caller.key), name=caller.name, role=caller.role)
