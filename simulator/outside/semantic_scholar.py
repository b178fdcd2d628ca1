"""Semantic Scholar: Academic Graph API v1 and Recommendations API v1.

Modelled on its OpenAPI descriptions and recorded responses. Simulated peculiarities: no `data` if a search finds
nothing; hyphenated words match nothing; date filters treat papers without a day as published on 1 January; a batch
without any known id is refused; references include entries without `paperId`; `data: null` if the publisher had the
references removed; recommendations for a paper may contain that paper, and are empty if the chosen pool does not cover
its field; recommendations for several papers fail if one of them is unknown.
"""

import json
import re
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from aiohttp import web

from simulator.outside.knobs import Knobs
from simulator.outside.library import Entry
from simulator.outside.semantic_scholar_papers import (
    OWN_PAPER,
    Fields,
    build_snippets,
    find_entry,
    is_in_computer_science,
)
from simulator.outside.semantic_scholar_queries import Period, parse_period
from simulator.outside.simulated_service import SimulatedService, build_retry_header

_GRAPH, _RECOMMENDATIONS = "/graph/v1", "/recommendations/v1"
_HYPHENATED = re.compile(r"\S*\w-\w\S*")
_MAX_RESULTS, _MAX_BATCH = 1000, 500
_RECENT_YEARS = 2
_ELIDED = "Notice: The following paper fields have been elided by the publisher: {'references'}."


class _Page(NamedTuple):
    offset: int
    limit: int


class SemanticScholar(SimulatedService):
    name: ClassVar[str] = "semantic_scholar"
    prefix: ClassVar[str] = "s2"
    knobs = Knobs(per_second=1.0)

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get(f"{_GRAPH}/paper/search", self.search),
            web.post(f"{_GRAPH}/paper/batch", self.batch),
            web.get(f"{_GRAPH}/paper/{{paper:.+}}/references", self.references),
            web.get(f"{_GRAPH}/paper/{{paper:.+}}/citations", self.citations),
            web.get(f"{_GRAPH}/paper/{{paper:.+}}", self.paper),
            web.get(f"{_GRAPH}/snippet/search", self.snippets),
            web.post(f"{_RECOMMENDATIONS}/papers{{slash:/?}}", self.recommendations),
            web.get(f"{_RECOMMENDATIONS}/papers/forpaper/{{paper:.+}}", self.recommendations_for_paper),
        ]

    def refuse_caller(self, request: web.Request, knobs: Knobs) -> web.Response | None:
        if knobs.api_key is not None and self.identify_caller(request) != knobs.api_key:
            return web.json_response({"message": "Forbidden"}, status=403)
        return None

    def refuse_over_limit(self, retry_after: float | None) -> web.Response:
        words = (
            "Too Many Requests. Please wait and try again or apply for a key for higher rate limits. "
            "https://www.semanticscholar.org/product/api#api-key-form"
        )
        return web.json_response({"message": words, "code": "429"}, status=429, headers=build_retry_header(retry_after))

    def build_server_error(self, status: int, retry_after: float | None = None) -> web.Response:
        message = "Endpoint request timed out" if status == 504 else "Internal Server Error"
        return web.json_response({"message": message}, status=status, headers=build_retry_header(retry_after))

    async def search(self, request: web.Request) -> web.Response:
        fields, page = Fields.parse(request), _parse_page(request, default=100, max_limit=100)
        entries = self._find_entries(_HYPHENATED.sub(" ", _get_query(request)), _get_period(request))
        reachable_entries, end = entries[:_MAX_RESULTS], page.offset + page.limit
        if end > _MAX_RESULTS or page.offset > max(len(reachable_entries) - 1, 0):
            raise web.HTTPBadRequest(text="Requested data for this limit and/or offset is not available")
        body: dict[str, object] = {"total": len(entries), "offset": page.offset}
        if end < len(reachable_entries):
            body["next"] = end
        if entries:
            body["data"] = [
                fields.build_record(self.library, entry, request) for entry in reachable_entries[page.offset : end]
            ]
        return web.json_response(body)

    async def batch(self, request: web.Request) -> web.Response:
        fields = Fields.parse(request)
        ids = _parse_ids(await request.read(), "ids")
        if len(ids) > _MAX_BATCH:
            raise web.HTTPBadRequest(text=f"Too many ids: {len(ids)}, at most {_MAX_BATCH}")
        records = [self._find_record(paper_id, fields, request) for paper_id in ids]
        if not any(records):
            raise web.HTTPBadRequest(text="No valid paper ids given")
        return web.json_response(records)

    async def paper(self, request: web.Request) -> web.Response:
        name = request.match_info["paper"]
        record = self._find_record(name, Fields.parse(request), request)
        if record is None:
            raise web.HTTPNotFound(text=f"Paper with id {name} not found")
        return web.json_response(record)

    async def references(self, request: web.Request) -> web.Response:
        entry = self._find_entry(request)
        if entry.corpus_id % 20 == 7:
            information = {"openAccessPdf": {"url": "", "status": "CLOSED", "license": None, "disclaimer": _ELIDED}}
            return web.json_response({"data": None, "citingPaperInfo": information})
        fields = Fields.parse(request)
        records = [
            fields.build_record(self.library, reference, request) for reference in self.library.list_references(entry)
        ]
        # A reference that could not be matched to a known paper.
        records.insert(len(records) // 2, fields.build_unmatched("World Development Indicators Table 4.14"))
        return _respond_with_links(request, "citedPaper", records)

    async def citations(self, request: web.Request) -> web.Response:
        fields = Fields.parse(request)
        records = [
            fields.build_record(self.library, citation, request)
            for citation in self.library.list_citations(self._find_entry(request))
        ]
        return _respond_with_links(request, "citingPaper", records)

    async def snippets(self, request: web.Request) -> web.Response:
        query, limit = _get_query(request), _parse_page(request, default=10, max_limit=1000).limit
        snippets = build_snippets(self.library, self._find_entries(query, _get_period(request)), query, limit)
        return web.json_response({"data": snippets, "retrievalVersion": "simulated-1"})

    async def recommendations(self, request: web.Request) -> web.Response:
        fields, limit = Fields.parse(request), _parse_page(request, default=100, max_limit=500).limit
        body = await request.read()
        positive_ids, negative_ids = (
            _parse_ids(body, "positivePaperIds"),
            _parse_ids(body, "negativePaperIds", is_required=False),
        )
        seeds = [seed for name in positive_ids if (seed := find_entry(self.library, name))]
        if len(seeds) < len(positive_ids):
            raise web.HTTPNotFound(text="Input papers not found")
        excluded_numbers = {seed.number for name in negative_ids if (seed := find_entry(self.library, name))}
        similar_entries = [entry for entry in self.library.find_similar(seeds) if entry.number not in excluded_numbers]
        return web.json_response(
            {
                "recommendedPapers": [
                    fields.build_record(self.library, entry, request) for entry in similar_entries[:limit]
                ]
            }
        )

    async def recommendations_for_paper(self, request: web.Request) -> web.Response:
        fields, limit = Fields.parse(request), _parse_page(request, default=100, max_limit=500).limit
        pool = request.query.get("from", "recent")
        if pool not in {"recent", "all-cs"}:
            raise web.HTTPBadRequest(text=f"Unacceptable query params: [from={pool}]")
        seed = self._find_entry(request)
        similar_entries = self.library.find_similar([seed])
        if pool == "all-cs" and not is_in_computer_science(seed):
            return web.json_response({"recommendedPapers": []})
        if pool == "recent":
            newest = max(entry.record.year or 0 for entry in self.library.entries)
            similar_entries = [entry for entry in similar_entries if (entry.record.year or 0) > newest - _RECENT_YEARS]
        if seed.corpus_id % 2:
            similar_entries.insert(0, seed)
        return web.json_response(
            {
                "recommendedPapers": [
                    fields.build_record(self.library, entry, request) for entry in similar_entries[:limit]
                ]
            }
        )

    def _find_entry(self, request: web.Request) -> Entry:
        name = request.match_info["paper"]
        entry = find_entry(self.library, name)
        if entry is None:
            raise web.HTTPNotFound(text=f"Paper with id {name} not found")
        return entry

    def _find_entries(self, query: str, days: Period) -> list[Entry]:
        entries = self.library.search(query)
        return entries if days == Period() else [entry for entry in entries if days.contains(entry.known_day)]

    def _find_record(self, name: str, fields: Fields, request: web.Request) -> dict[str, object] | None:
        if name == OWN_PAPER["paperId"]:
            return fields.select(OWN_PAPER)
        entry = find_entry(self.library, name)
        return fields.build_record(self.library, entry, request) if entry else None


def _respond_with_links(request: web.Request, side: str, records: list[dict[str, object]]) -> web.Response:
    page = _parse_page(request, default=100, max_limit=1000)
    end = page.offset + page.limit
    if end >= 10_000:
        raise web.HTTPBadRequest(text="The sum of offset and limit must be < 10000")
    body: dict[str, object] = {"offset": page.offset}
    if end < len(records):
        body["next"] = end
    body["data"] = [{side: record} for record in records[page.offset : end]]
    return web.json_response(body)


def _get_query(request: web.Request) -> str:
    query = request.query.get("query", "").strip()
    if not query:
        raise web.HTTPBadRequest(text="Missing required parameter: 'query'")
    return query


def _get_period(request: web.Request) -> Period:
    return parse_period(request.query.get("publicationDateOrYear", ""))


def _parse_page(request: web.Request, default: int, max_limit: int) -> _Page:
    parameters = {name: request.query.get(name, str(value)) for name, value in (("offset", 0), ("limit", default))}
    invalid_parameters = [f"{name}={value}" for name, value in parameters.items() if not value.isdecimal()]
    if not invalid_parameters and not 1 <= int(parameters["limit"]) <= max_limit:
        invalid_parameters = [f"limit={parameters['limit']}"]
    if invalid_parameters:
        raise web.HTTPBadRequest(text=f"Unacceptable query params: [{', '.join(invalid_parameters)}]")
    return _Page(int(parameters["offset"]), int(parameters["limit"]))


def _parse_ids(body: bytes, name: str, is_required: bool = True) -> list[str]:
    try:
        paper_ids = json.loads(body).get(name, [])
    except (ValueError, AttributeError) as error:
        raise web.HTTPBadRequest(text="Bad request: the body is not a JSON object") from error
    if not isinstance(paper_ids, list) or not all(isinstance(paper_id, str) and paper_id for paper_id in paper_ids):
        raise web.HTTPBadRequest(text=f"Bad request: {name} must be a list of paper ids")
    if is_required and not paper_ids:
        raise web.HTTPBadRequest(text=f"Bad request: {name} must not be empty")
    return paper_ids
