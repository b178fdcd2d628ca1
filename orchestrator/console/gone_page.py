"""In place of the page of something that was deleted: when and why, and where the proof is."""

from fastapi import Request
from starlette.responses import Response

from orchestrator.access.signed_in import SignedIn
from orchestrator.api.problems import NoSuchThing
from orchestrator.console.scripted_page import page_response
from orchestrator.store.tombstones import Tombstone

__all__ = ["gone_page"]

_NAMES = {"evaluation": "proposal", "batch": "call"}
"""As the console calls them."""


def gone_page(request: Request, who: SignedIn, sought: NoSuchThing, tombstone: Tombstone) -> Response:
    """410, for whoever has signed in. A part of a page, which a script asks for, replaces all of it."""
    what = _NAMES.get(sought.thing, sought.thing)
    answer = page_response("gone.html", request, who, status=410, what=what, id=sought.id, gone=tombstone)
    if request.headers.get("hx-request") == "true":
        answer.headers["HX-Refresh"] = "true"
    return answer
