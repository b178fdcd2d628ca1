"""GROBID servers with a few engines each, a 503 response while all are busy, and simulated failures."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from random import Random

from aiohttp import web
from pydantic import Field

from simulator.outside.knobs import Knobs, Rate
from simulator.outside.library import Library
from simulator.outside.pdfs import find_paper_id, find_version
from simulator.outside.simulated_service import SimulatedService
from simulator.outside.teis import ENTITY_BOMB, build_paper_tei

_BOUNDARY = re.compile(r"multipart/form-data;.*boundary=\"?([^\";,]+)")
_CHECK_SECONDS = 0.02
"""Seconds between two checks of the knobs by a request in flight, so that a simulated death ends it immediately."""


class GrobidKnobs(Knobs):
    slots: int = Field(default=4, ge=1)
    """Number of engines (`concurrency` in grobid.yaml)."""
    pool_wait: float = Field(default=0.0, ge=0)
    """Seconds that a request waits for an engine before a 503 (`poolMaxWait`; 1 s in the real GROBID)."""
    parse_mean: float = Field(default=0.0, ge=0)
    parse_spread: float = Field(default=0.25, ge=0)
    busy_rate: Rate = 0.0
    """Share of documents answered with 503 although an engine is free, as if other clients used it."""
    empty_rate: Rate = 0.0
    """Share of documents answered with 204 (no content)."""
    fault_rate: Rate = 0.0
    """Share of documents answered with 500 without a code after the parsing time, as if the engine had failed."""
    refuse_rate: Rate = 0.0
    """Share of documents answered with 500 and `[BAD_INPUT_DATA]`, as if the document were invalid."""
    dead: bool = False
    """Close every connection, including those in flight, as if the process had been killed for lack of memory."""
    hung: bool = False
    """Accept connections but answer nothing, not even health checks."""
    bomb: bool = False
    """Answer with an XML entity bomb."""
    tei: str = ""
    """TEI file returned for documents that are not simulated papers; if empty, they are answered with 204."""
    version: str = "0.9.1"


class Grobid(SimulatedService):
    knobs: GrobidKnobs = GrobidKnobs()

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._engines = 0
        self._request_counts: Counter[bytes] = Counter()
        self.knobs = type(self).knobs

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get("/api/isalive", self.isalive),
            web.get("/api/version", self.version),
            web.post("/api/processFulltextDocument", self.process_fulltext_document),
        ]

    async def isalive(self, request: web.Request) -> web.StreamResponse:
        await self._pause(request, 0.0)
        return web.Response(text="true")

    async def version(self, request: web.Request) -> web.StreamResponse:
        await self._pause(request, 0.0)
        return web.json_response({"version": self.knobs.version, "revision": f"{self.knobs.version}-0-g0000000"})

    async def process_fulltext_document(self, request: web.Request) -> web.StreamResponse:
        await self._pause(request, 0.0)
        pdf = _extract_input(request.headers.get("Content-Type", ""), await request.read())
        if pdf is None:
            return web.Response(status=400)
        key = blake2b(pdf, digest_size=16).digest()
        random = Random(key + b"%s/%d/%d" % (self.prefix.encode(), self.knobs.seed, self._request_counts[key]))
        self._request_counts[key] += 1
        if random.random() < self.knobs.busy_rate or not await self._reserve_engine():
            return web.Response(status=503)
        try:
            await self._pause(request, self._parse_seconds(random))
            return self._answer(pdf, random.random())
        finally:
            self._engines -= 1

    async def _reserve_engine(self) -> bool:
        """Reserve an engine; return False if none became free within the time that requests wait."""
        deadline = time.monotonic() + self.knobs.pool_wait
        while self._engines >= self.knobs.slots:
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(_CHECK_SECONDS)
        self._engines += 1
        return True

    async def _pause(self, request: web.Request, seconds: float) -> None:
        """Wait for the duration of an answer, and longer while the server hangs; close the connection when it dies."""
        deadline = time.monotonic() + seconds
        while True:
            if self.knobs.dead:
                if request.transport is not None:
                    request.transport.abort()
                raise web.HTTPServiceUnavailable  # not received, because the connection is closed
            seconds_left = deadline - time.monotonic()
            if seconds_left <= 0 and not self.knobs.hung:
                return
            await asyncio.sleep(_CHECK_SECONDS if self.knobs.hung else min(_CHECK_SECONDS, seconds_left))

    def _parse_seconds(self, random: Random) -> float:
        low, high = 1 - self.knobs.parse_spread, 1 + self.knobs.parse_spread
        return self.knobs.parse_mean * random.uniform(max(0.0, low), high)

    def _answer(self, pdf: bytes, point: float) -> web.Response:
        knobs = self.knobs
        if knobs.bomb:
            return _respond_with_xml(ENTITY_BOMB)
        if not pdf.startswith(b"%PDF-") or point < knobs.refuse_rate:
            return web.Response(text="[BAD_INPUT_DATA] PDF to XML conversion failed with error code: 1", status=500)
        point -= knobs.refuse_rate
        if point < knobs.fault_rate:
            return web.Response(text="Java heap space", status=500)
        point -= knobs.fault_rate
        paper = self.library.by_id.get(find_paper_id(pdf) or "")
        if point < knobs.empty_rate or (paper is None and not knobs.tei):
            return web.Response(status=204)
        if paper is None:
            return _respond_with_xml(Path(knobs.tei).read_text("utf-8"))
        return _respond_with_xml(
            build_paper_tei(paper, self.library.list_references(paper), knobs.version, find_version(pdf))
        )


def _extract_input(content_type: str, body: bytes) -> bytes | None:
    """Return the field `input` of a multipart form, or None. It is parsed here because the body has already been read,
    so that aiohttp's reader cannot be used."""
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        return None
    for part in body.split(b"--" + boundary[1].encode()):
        head, blank, content = part.partition(b"\r\n\r\n")
        if blank and b'name="input"' in head:
            return content.removesuffix(b"\r\n")
    return None


def _respond_with_xml(text: str) -> web.Response:
    return web.Response(text=text, content_type="application/xml", charset="utf-8")


class Grobid1(Grobid):
    name = "grobid_1"
    prefix = "grobid-1"


class Grobid2(Grobid):
    name = "grobid_2"
    prefix = "grobid-2"


class Grobid3(Grobid):
    name = "grobid_3"
    prefix = "grobid-3"


GROBIDS = (Grobid1, Grobid2, Grobid3)
"""Three servers, each with its own knobs and engines."""
