"""Imitation of OpenReview over HTTP: both versions of its API and its PDFs, as openreview-py 2.9.1 uses them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

ABSTRACT = "We ask whether corals that are raised on tiles in three bays grow faster, and we measure them. " * 3
_MOST_NOTES = 1000


class OpenReview:
    """Two independent stores of notes: `/v2` with wrapped values, `/v1` with plain ones."""

    def __init__(self) -> None:
        self.url = ""
        self.notes: dict[str, list[dict[str, Any]]] = {"v2": [], "v1": []}
        self.groups: dict[str, dict[str, Any]] = {}
        """Content of the groups of version 2, by id."""
        self.hidden: set[str] = set()
        """Ids of notes that only signed-in users may see."""
        self.pdfs: dict[str, bytes] = {}
        self.failing_offset: int | None = None
        self.requests: list[str] = []

    def add(self, version: str, forum: str, invitation: str, **content: Any) -> None:
        """Add a submission."""
        notes = self.notes[version]
        fields = {"title": f"Corals on tiles {forum}", "abstract": ABSTRACT, "authors": ["Ada Reef"], **content}
        invitation_fields: dict[str, Any] = {"invitation": invitation}
        if version == "v2":
            fields = {name: {"value": value} for name, value in fields.items()}
            invitation_fields = {"invitations": [invitation, f"{invitation.partition('/-/')[0]}/-/Edit"], "version": 2}
        note = {"id": forum, "forum": forum, "number": len(notes) + 1, "readers": ["everyone"], **invitation_fields}
        notes.append({**note, "content": fields})

    async def answer_notes(self, request: web.Request) -> web.Response:
        self.requests.append(request.path_qs)
        version, query = request.match_info["version"], request.query
        if query.get("offset") == str(self.failing_offset):
            return _build_error(500, "InternalServerError", "Something went wrong.")
        if query.get("id") in self.hidden:
            return _build_error(403, "ForbiddenError", f"User Guest does not have permission to see Note {query['id']}")
        matching_notes = [note for note in self.notes[version] if _matches(note, query)]
        if "id" in query and not matching_notes:
            return _build_error(404, "NotFoundError", f"The Note {query['id']} was not found")
        start = int(query.get("offset", 0))
        limit = min(int(query.get("limit", _MOST_NOTES)), _MOST_NOTES)
        return web.json_response({"notes": matching_notes[start : start + limit], "count": len(matching_notes)})

    async def answer_groups(self, request: web.Request) -> web.Response:
        name = request.query["id"]
        if request.match_info["version"] != "v2" or name not in self.groups:
            return _build_error(404, "NotFoundError", f"The Group {name} was not found")
        content = {field: {"value": value} for field, value in self.groups[name].items()}
        return web.json_response({"groups": [{"id": name, "content": content}], "count": 1})

    async def answer_pdf(self, request: web.Request) -> web.Response:
        pdf = self.pdfs.get(request.query["id"])
        if pdf is None:
            return web.Response(status=404)
        return web.Response(body=pdf, content_type="application/pdf")


def _matches(note: Mapping[str, Any], query: Mapping[str, str]) -> bool:
    invitations: Sequence[str] = note.get("invitations") or [note["invitation"]]
    return note["id"] == query["id"] if "id" in query else query["invitation"] in invitations


def _build_error(status: int, name: str, message: str) -> web.Response:
    return web.json_response({"name": name, "message": message, "status": status, "details": {}}, status=status)


@asynccontextmanager
async def run_openreview() -> AsyncIterator[OpenReview]:
    service = OpenReview()
    app = web.Application()
    app.router.add_get("/{version}/notes", service.answer_notes)
    app.router.add_get("/{version}/groups", service.answer_groups)
    app.router.add_get("/pdf", service.answer_pdf)
    async with TestServer(app) as server:
        service.url = str(server.make_url("")).rstrip("/")
        yield service
