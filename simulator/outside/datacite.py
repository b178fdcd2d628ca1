"""DataCite: `/dois?query=&resource-type-id=dataset&page[size]=`, modelled on its documentation and source code.

Every other paper has a data set in an archive. The query language supports only words and a range of `registered`.
"""

import datetime as dt
import re
from collections.abc import Sequence
from typing import ClassVar

from aiohttp import web

from simulator.outside.knobs import Knobs
from simulator.outside.library import Entry
from simulator.outside.simulated_service import SimulatedService, build_retry_header

_RANGE = re.compile(r" AND registered:\[(\*|\d{4}-\d\d-\d\d) TO (\*|\d{4}-\d\d-\d\d)\]$")
_WORDS = re.compile(r"\(?[\w\s'’.-]+\)?")


class DataCite(SimulatedService):
    name: ClassVar[str] = "datacite"
    prefix: ClassVar[str] = "datacite"
    knobs = Knobs(per_second=10, burst=100)

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/dois", self.search)]

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        body = {"errors": [{"status": str(status), "title": message}]}
        return web.json_response(body, status=status, headers=build_retry_header(retry_after))

    async def search(self, request: web.Request) -> web.Response:
        query = request.query.get("query", "")
        range_match = _RANGE.search(query)
        words = query[: range_match.start()] if range_match else query
        if not _WORDS.fullmatch(words) or words.count("(") != words.count(")"):
            return self.build_error(400, "The query could not be parsed.")
        first, last = (dt.date.min, dt.date.max) if range_match is None else _parse_period(*range_match.groups())
        size = int(request.query.get("page[size]", "25"))
        entries = [
            entry
            for entry in self.library.search(words)
            if entry.number % 2 == 0 and first <= (entry.date or dt.date.min) <= last
        ]
        return web.json_response(
            {"data": [_build_record(entry) for entry in entries[:size]], "meta": {"total": len(entries), "page": 1}}
        )


def _parse_period(first: str, last: str) -> tuple[dt.date, dt.date]:
    return (
        dt.date.min if first == "*" else dt.date.fromisoformat(first),
        dt.date.max if last == "*" else dt.date.fromisoformat(last),
    )


def _build_record(entry: Entry) -> dict[str, object]:
    doi = f"10.5061/dryad.{entry.s2[:8]}"
    return {
        "id": doi,
        "type": "dois",
        "attributes": {
            "doi": doi,
            "titles": [
                {"title": "What was recorded", "titleType": "Subtitle"},
                {"title": f"Data from: {entry.record.title}"},
            ],
            "creators": [{"name": name, "nameType": "Personal"} for name in entry.record.authors],
            # An object since version 4.5 of the schema; a text in older records.
            "publisher": {"name": "Dryad"} if entry.number % 4 else "Dryad",
            "publicationYear": entry.record.year,
            "types": {"resourceTypeGeneral": "Dataset"},
            "descriptions": [{"description": f"<p>{entry.record.abstract}</p>", "descriptionType": "Abstract"}],
            "rightsList": [{"rights": "Creative Commons Zero v1.0 Universal", "rightsIdentifier": "cc0-1.0"}],
            "registered": f"{entry.date.isoformat()}T10:02:11.000Z" if entry.date else None,
            "url": f"https://datadryad.org/dataset/doi:{doi}",
            "state": "findable",
            "downloadCount": entry.record.citation_count or 0,
        },
    }
