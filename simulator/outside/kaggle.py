"""Kaggle: `/api/v1/datasets/list?search=&page=`, modelled on its client. Every third paper has a data set."""

from collections.abc import Sequence
from typing import ClassVar

from aiohttp import web

from simulator.outside.library import Entry
from simulator.outside.simulated_service import SimulatedService, retry_header

_PAGE = 20


class Kaggle(SimulatedService):
    name: ClassVar[str] = "kaggle"
    prefix: ClassVar[str] = "kaggle"

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/api/v1/datasets/list", self.search)]

    def caller(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "")

    def refusal(self, request: web.Request, knobs: object) -> web.Response | None:
        return None if self.caller(request).startswith("Bearer ") else self.failure(401, "Unauthenticated")

    def failure(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        return web.json_response({"code": status, "message": message}, status=status, headers=retry_header(retry_after))

    async def search(self, request: web.Request) -> web.Response:
        page = int(request.query.get("page", "1"))
        entries = [entry for entry in self.library.search(request.query.get("search", "")) if entry.number % 3 == 0]
        return web.json_response([_describe_dataset(entry) for entry in entries[(page - 1) * _PAGE : page * _PAGE]])


def _describe_dataset(entry: Entry) -> dict[str, object]:
    ref = f"{(entry.record.authors or ('somebody',))[0].split()[-1].lower()}/data-{entry.record.id}"
    return {
        "id": entry.corpus_id,
        "ref": ref,
        "subtitle": f"Measurements behind {entry.record.title}"[:80],
        "creatorName": (entry.record.authors or ("Somebody",))[0],
        "totalBytes": 1_000 * entry.corpus_id,
        "url": f"https://www.kaggle.com/datasets/{ref}",
        "lastUpdated": f"{entry.date.isoformat()}T08:15:30.457Z" if entry.date else None,
        "downloadCount": entry.record.citation_count,
        "isPrivate": False,
        "licenseName": "CC BY 4.0",
        "description": entry.record.abstract[:600],
        "ownerName": (entry.record.authors or ("Somebody",))[0],
        "title": f"Data of {entry.record.title}"[:50],
        "usabilityRating": 0.75,
        "voteCount": entry.number,
    }
