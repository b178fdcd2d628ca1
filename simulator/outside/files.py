"""Hosts of PDFs: free copies of the simulated papers at the addresses of repositories, and hostile files."""

import asyncio
from collections.abc import Sequence

from aiohttp import web

from simulator.outside.library import Entry
from simulator.outside.pdfs import HOSTILE, build_hostile_pdf, build_paper_pdf
from simulator.outside.simulated_service import SimulatedService


class Files(SimulatedService):
    """Server of PDF files. Other services link to `/pdf/ID.pdf`; the other paths are repositories with their own
    ids."""

    name = "files"
    prefix = "files"

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get("/pdf/{id}.pdf", self.copy),
            web.get("/arxiv/{id:.+}", self.arxiv),
            web.get("/acl/{id}.pdf", self.acl),
            web.get("/hostile/{kind}.pdf", self.hostile),
        ]

    async def copy(self, request: web.Request) -> web.Response:
        entry = self.library.by_id.get(request.match_info["id"])
        return self._serve_pdf(entry if entry is not None and (entry.free_pdf or entry.arxiv) else None)

    async def arxiv(self, request: web.Request) -> web.Response:
        """Return the version that the id names, or the newest one."""
        name, _, version = request.match_info["id"].removesuffix(".pdf").partition("v")
        entry = self.library.by_arxiv.get(name)
        if entry is None or not version:
            return self._serve_pdf(entry)
        is_known = version.isdecimal() and 1 <= int(version) <= entry.versions
        return self._serve_pdf(entry if is_known else None, int(version) if is_known else None)

    async def acl(self, request: web.Request) -> web.Response:
        return self._serve_pdf(self.library.by_acl.get(request.match_info["id"]))

    async def hostile(self, request: web.Request) -> web.Response:
        kind = request.match_info["kind"]
        if kind not in HOSTILE:
            return self.build_error(404, f"No such file; there are {', '.join(HOSTILE)}.")
        body = await asyncio.to_thread(build_hostile_pdf, kind)
        return web.Response(body=body, content_type="application/pdf")

    def _serve_pdf(self, entry: Entry | None, version: int | None = None) -> web.Response:
        if entry is None:
            return web.Response(
                text="<html><body><h1>404 Not Found</h1></body></html>", status=404, content_type="text/html"
            )
        body = build_paper_pdf(entry, self.library.list_references(entry), version)
        return web.Response(body=body, content_type="application/pdf")
