"""arXiv's query API (`/api/query`), which returns Atom, modelled on its User's Manual and its search service.

Simulated peculiarities: errors are feeds with one entry titled Error and status 200; one malformed id makes a whole
`id_list` fail; pages are sometimes empty by mistake (`empty_rate`); ids in entries have a version; withdrawn papers are
served like all others and only their comment says so; rate limit errors are plain text.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from aiohttp import web
from pydantic import Field

from simulator.outside.arxiv_feeds import Feed, build_error_feed
from simulator.outside.arxiv_queries import BadQuery, Searcher
from simulator.outside.knobs import Knobs, Rate
from simulator.outside.library import Entry, Library
from simulator.outside.lookup import rank_best_first
from simulator.outside.simulated_service import SimulatedService, build_retry_header, get_random

_ID = re.compile(r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?")
_MAX_PAGE_SIZE, _MAX_RESULTS = 2000, 30_000


class ArxivKnobs(Knobs):
    empty_rate: Rate = Field(default=0.0)
    """Share of pages that are empty by mistake."""


class _Parameters(NamedTuple):
    search_query: str
    id_list: str
    start: int
    max_results: int


class Arxiv(SimulatedService):
    name: ClassVar[str] = "arxiv"
    prefix: ClassVar[str] = "arxiv"
    knobs: ArxivKnobs = ArxivKnobs(per_second=1 / 3, concurrent=1)

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._searcher = Searcher(library)

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/api/query", self.query)]

    def identify_caller(self, request: web.Request) -> str:
        return request.remote or ""

    def refuse_over_limit(self, retry_after: float | None) -> web.Response:
        return web.Response(text="Rate exceeded.", status=429, headers=build_retry_header(retry_after))

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        return _respond_with_atom(build_error_feed(message), status)

    async def query(self, request: web.Request) -> web.Response:
        parameters = _parse_parameters(request.query)
        if isinstance(parameters, str):
            return self.build_error(200, parameters)
        if parameters.max_results > _MAX_RESULTS:
            return self.build_error(400, f"max_results must be <= {_MAX_RESULTS}")
        try:
            entries = self._find_entries(parameters)
        except BadQuery as error:
            return self.build_error(400, str(error))
        page = entries[parameters.start : parameters.start + min(parameters.max_results, _MAX_PAGE_SIZE)]
        if page and get_random(request).random() < self.knobs.empty_rate:
            page = []
        feed = Feed(parameters.search_query, parameters.id_list, parameters.start, parameters.max_results, len(entries))
        # In a thread, because 200 entries take a while and would delay the arrival times of other requests.
        return _respond_with_atom(await asyncio.to_thread(feed.build_document, page, str(request.url.origin())), 200)

    def _find_entries(self, parameters: _Parameters) -> list[Entry]:
        if parameters.id_list:
            entries = [self.library.by_arxiv.get(_strip_version(name)) for name in parameters.id_list.split(",")]
            return [entry for entry in entries if entry]
        scores = self._searcher.compute_scores(parameters.search_query)
        return [self.library.entries[number] for number in rank_best_first(scores.astype(np.float32))]


def _parse_parameters(query: Mapping[str, str]) -> _Parameters | str:
    """Return the parameters, or an error message."""
    numbers = {}
    for name, default in (("start", "0"), ("max_results", "10")):
        text = query.get(name, default)
        if not re.fullmatch(r"-?\d+", text):
            return f"{name} must be an integer"
        if int(text) < 0:
            return f"{name} must be non-negative"
        numbers[name] = int(text)
    id_list = query.get("id_list", "")
    for name in id_list.split(",") if id_list else ():
        if not _ID.fullmatch(name):
            return f"incorrect id format for {name}"
    return _Parameters(query.get("search_query", ""), id_list, **numbers)


def _strip_version(name: str) -> str:
    match = _ID.fullmatch(name)
    return match[1] if match else ""


def _respond_with_atom(body: bytes, status: int) -> web.Response:
    return web.Response(body=body, status=status, content_type="application/atom+xml", charset="utf-8")
