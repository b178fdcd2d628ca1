"""Kaggle: `/api/v1/datasets/list?search=&page=`, modelled on its client. Every third paper has a data set."""

from collections.abc import Sequence
from typing import ClassVar

from aiohttp import web

from simulator.outside.library import Entry
from simulator.outside.simulated_service import SimulatedService, build_retry_header

_PAGE_SIZE = 20


class Kaggle(SimulatedService):
    name: ClassVar[str] = "kaggle"
    prefix: ClassVar[str] = "kaggle"

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/api/v1/datasets/list", self.search)]

    def identify_caller(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "")

    def refuse_caller(self, request: web.Request, knobs: object) -> web.Response | None:
        return None if self.identify_caller(request).startswith("Bearer ") else self.build_error(401, "Unauthenticated")

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        return web.json_response(
            {"code": status, "message": message}, status=status, headers=build_retry_header(retry_after)
        )

    async def search(self, request: web.Request) -> web.Response:
        page = int(request.query.get("page", "1"))
        entries = [entry for entry in self.library.search(request.query.get("search", "")) if entry.number % 3 == 0]
        return web.json_response(
            [_describe_dataset(entry) for entry in entries[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE]]
        )


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
