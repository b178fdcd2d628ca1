"""GROBID servers: a few engines each, 503 when all are taken, and the ways in which they fail."""

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
from simulator.outside.pdfs import paper_id_in, version_in
from simulator.outside.teis import ENTITY_BOMB, paper_tei
from simulator.outside.twin import Twin

_BOUNDARY = re.compile(r"multipart/form-data;.*boundary=\"?([^\";,]+)")
_LOOK = 0.02
"""Seconds between two looks at the knobs by a request in flight, so that a death ends it at once."""


class GrobidKnobs(Knobs):
    slots: int = Field(default=4, ge=1)
    """`concurrency` of grobid.yaml."""
    pool_wait: float = Field(default=0.0, ge=0)
    """`poolMaxWait`: how long a request waits for an engine before it is told 503; 1 s in the real one."""
    parse_mean: float = Field(default=0.0, ge=0)
    parse_spread: float = Field(default=0.25, ge=0)
    busy_rate: Rate = 0.0
    """Share of documents answered 503 at once although an engine is free: somebody else's work."""
    empty_rate: Rate = 0.0
    """204."""
    fault_rate: Rate = 0.0
    """500 without a code, after the time of parsing: an engine that failed."""
    refuse_rate: Rate = 0.0
    """500 with `[BAD_INPUT_DATA]`: the document is at fault."""
    dead: bool = False
    """Cuts every connection, those in flight too, as a process killed for its memory does."""
    hung: bool = False
    """Takes connections and answers nothing, also not whether it is alive."""
    bomb: bool = False
    """Answers with an entity bomb."""
    tei: str = ""
    """File of the TEI that documents get which are no simulated papers; without it they get 204."""
    version: str = "0.9.1"


class Grobid(Twin):
    knobs: GrobidKnobs = GrobidKnobs()

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._engines = 0
        self._asked: Counter[bytes] = Counter()
        self.knobs = type(self).knobs

    def routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get("/api/isalive", self.isalive),
            web.get("/api/version", self.version),
            web.post("/api/processFulltextDocument", self.process_fulltext_document),
        ]

    async def isalive(self, request: web.Request) -> web.StreamResponse:
        await self._stand(request, 0.0)
        return web.Response(text="true")

    async def version(self, request: web.Request) -> web.StreamResponse:
        await self._stand(request, 0.0)
        return web.json_response({"version": self.knobs.version, "revision": f"{self.knobs.version}-0-g0000000"})

    async def process_fulltext_document(self, request: web.Request) -> web.StreamResponse:
        await self._stand(request, 0.0)
        pdf = _input(request.headers.get("Content-Type", ""), await request.read())
        if pdf is None:
            return web.Response(status=400)
        key = blake2b(pdf, digest_size=16).digest()
        random = Random(key + b"%s/%d/%d" % (self.prefix.encode(), self.knobs.seed, self._asked[key]))
        self._asked[key] += 1
        if random.random() < self.knobs.busy_rate or not await self._engine():
            return web.Response(status=503)
        try:
            await self._stand(request, self._parse_seconds(random))
            return self._answer(pdf, random.random())
        finally:
            self._engines -= 1

    async def _engine(self) -> bool:
        """Whether one was free within the time that requests may wait for it."""
        until = time.monotonic() + self.knobs.pool_wait
        while self._engines >= self.knobs.slots:
            if time.monotonic() >= until:
                return False
            await asyncio.sleep(_LOOK)
        self._engines += 1
        return True

    async def _stand(self, request: web.Request, seconds: float) -> None:
        """Lets the time pass that an answer takes, and longer while the server hangs; cuts the line when it dies."""
        until = time.monotonic() + seconds
        while True:
            if self.knobs.dead:
                if request.transport is not None:
                    request.transport.abort()
                raise web.HTTPServiceUnavailable  # which nobody hears any more
            left = until - time.monotonic()
            if left <= 0 and not self.knobs.hung:
                return
            await asyncio.sleep(_LOOK if self.knobs.hung else min(_LOOK, left))

    def _parse_seconds(self, random: Random) -> float:
        low, high = 1 - self.knobs.parse_spread, 1 + self.knobs.parse_spread
        return self.knobs.parse_mean * random.uniform(max(0.0, low), high)

    def _answer(self, pdf: bytes, point: float) -> web.Response:
        knobs = self.knobs
        if knobs.bomb:
            return _xml(ENTITY_BOMB)
        if not pdf.startswith(b"%PDF-") or point < knobs.refuse_rate:
            return web.Response(text="[BAD_INPUT_DATA] PDF to XML conversion failed with error code: 1", status=500)
        point -= knobs.refuse_rate
        if point < knobs.fault_rate:
            return web.Response(text="Java heap space", status=500)
        point -= knobs.fault_rate
        paper = self.library.by_id.get(paper_id_in(pdf) or "")
        if point < knobs.empty_rate or (paper is None and not knobs.tei):
            return web.Response(status=204)
        if paper is None:
            return _xml(Path(knobs.tei).read_text("utf-8"))
        return _xml(paper_tei(paper, self.library.references(paper), knobs.version, version_in(pdf)))


def _input(content_type: str, body: bytes) -> bytes | None:
    """The field `input` of a form; the frame has read the body already, so aiohttp's reader has nothing left."""
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        return None
    for part in body.split(b"--" + boundary[1].encode()):
        head, blank, content = part.partition(b"\r\n\r\n")
        if blank and b'name="input"' in head:
            return content.removesuffix(b"\r\n")
    return None


def _xml(text: str) -> web.Response:
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
