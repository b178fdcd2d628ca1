"""Server of all simulated services, each under its prefix, and of the control endpoints."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from simulator.outside.arxiv import Arxiv
from simulator.outside.crossref import Crossref
from simulator.outside.datacite import DataCite
from simulator.outside.files import Files
from simulator.outside.github import GitHub
from simulator.outside.grobid import GROBIDS
from simulator.outside.hostile import Hostile
from simulator.outside.kaggle import Kaggle
from simulator.outside.library import Library
from simulator.outside.openalex import OpenAlex
from simulator.outside.pages import Pages
from simulator.outside.semantic_scholar import SemanticScholar
from simulator.outside.serper import Serper
from simulator.outside.simulated_service import SimulatedService
from simulator.outside.station import Handler, Station
from simulator.outside.unpaywall import Unpaywall

SERVICES: tuple[Callable[[Library], SimulatedService], ...] = (
    SemanticScholar,
    Arxiv,
    OpenAlex,
    Crossref,
    Unpaywall,
    Files,
    *GROBIDS,
    Hostile,
    Serper,
    Pages,
    GitHub,
    Kaggle,
    DataCite,
)
"""One factory per service. A service with several servers has one for each, with different names and prefixes."""

UNLIMITED: Mapping[str, Any] = {"per_second": None, "concurrent": None, "per_day": None}

_MAX_BODY_BYTES = 64 * 2**20


class World:
    def __init__(self, library: Library, with_limits: bool = True) -> None:
        """Create all services. If `with_limits` is False, they have no rate limits until they are configured."""
        services = [make(library) for make in SERVICES]
        self._stations = {service.name: Station(service) for service in services}
        self._by_prefix = {station.service.prefix: station for station in self._stations.values()}
        if not with_limits:
            for station in self._stations.values():
                station.configure(dict(UNLIMITED))

    def build_application(self) -> web.Application:
        app = web.Application(middlewares=[self._dispatch], client_max_size=_MAX_BODY_BYTES)
        for station in self._stations.values():
            for route in station.service.list_routes():
                path = f"/{station.service.prefix}{route.path}"
                app.add_routes([web.RouteDef(route.method, path, route.handler, route.kwargs)])
        app.add_routes(
            [
                web.get("/_outside/stats/{service}", self.show_stats),
                web.post("/_outside/reset", self.reset),
                web.get("/_outside/knobs/{service}", self.read_knobs),
                web.put("/_outside/knobs/{service}", self.change_knobs),
            ]
        )
        return app

    @web.middleware
    async def _dispatch(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        arrival = time.monotonic()
        station = self._by_prefix.get(request.path.split("/", 2)[1])
        return await (handler(request) if station is None else station.answer(request, handler, arrival))

    async def show_stats(self, request: web.Request) -> web.Response:
        return web.json_response(text=self._find_station(request).counters.build_stats().model_dump_json())

    async def reset(self, request: web.Request) -> web.Response:
        for station in self._stations.values():
            station.reset()
        return web.json_response({})

    async def read_knobs(self, request: web.Request) -> web.Response:
        return web.json_response(text=self._find_station(request).knobs.model_dump_json())

    async def change_knobs(self, request: web.Request) -> web.Response:
        """Change the knobs in the body and leave the others unchanged."""
        try:
            self._find_station(request).configure(json.loads(await request.read()))
        except (ValidationError, ValueError, TypeError) as error:
            return _build_error(400, f"Invalid knobs: {error}")
        return await self.read_knobs(request)

    def _find_station(self, request: web.Request) -> Station:
        name = request.match_info["service"]
        if name not in self._stations:
            names = ", ".join(self._stations)
            raise web.HTTPNotFound(
                text=json.dumps({"error": {"message": f"Unknown service {name!r}; known services: {names}."}}),
                content_type="application/json",
            )
        return self._stations[name]


def _build_error(status: int, message: str) -> web.Response:
    return web.json_response({"error": {"message": message}}, status=status)
