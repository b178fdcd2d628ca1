"""Malicious or broken host, whose responses a downloader must survive."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Sequence

from aiohttp import web

from simulator.outside.simulated_service import SimulatedService

PDF = b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n"
"""Content with the first bytes of a PDF; it is never parsed."""
LOGIN = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in to read.</body></html>"
REDIRECTS = 10_000
FIVE_GIGABYTES = 5 * 10**9
_UNPACKED_BYTES = 2 * 2**30
_DRIP_SECONDS = 0.05
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


class Hostile(SimulatedService):
    name = "hostile"
    prefix = "hostile"

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [
            web.get("/honest.pdf", self.honest),
            web.get("/packed.pdf", self.packed),
            web.get("/redirects/{number}", self.redirects),
            web.get("/redirect", self.redirect),
            web.get("/nowhere", self.nowhere),
            web.get("/silent", self.silent),
            web.get("/stalled", self.stalled),
            web.get("/dripping", self.dripping),
            web.get("/bursting", self.bursting),
            web.get("/endless", self.endless),
            web.get("/endless-redirect", self.endless_redirect),
            web.get("/five-gigabytes", self.five_gigabytes),
            web.get("/cut-short", self.cut_short),
            web.get("/bomb", self.bomb),
            web.get("/broken-packing", self.broken_packing),
            web.get("/unasked-packing", self.unasked_packing),
            web.get("/picture", self.picture),
            web.get("/login.pdf", self.login),
            web.get("/empty", self.empty),
            web.get("/long-header", self.long_header),
            web.get("/status/{status}", self.status),
        ]

    async def honest(self, request: web.Request) -> web.Response:
        return web.Response(body=PDF, content_type="application/pdf")

    async def packed(self, request: web.Request) -> web.Response:
        """Serve an honest file with gzip encoding, so that it is smaller in transit."""
        body = gzip.compress(PDF * 1_000)
        return web.Response(body=body, content_type="application/pdf", headers={"Content-Encoding": "gzip"})

    async def redirects(self, request: web.Request) -> web.Response:
        """Redirect ten thousand times, then serve a PDF."""
        number = int(request.match_info["number"])
        if number >= REDIRECTS:
            return await self.honest(request)
        return web.Response(status=302, headers={"Location": str(number + 1)})

    async def redirect(self, request: web.Request) -> web.Response:
        """Redirect to the address in the parameter `to`, however it is spelled."""
        return web.Response(status=307, headers={"Location": request.query["to"]})

    async def nowhere(self, request: web.Request) -> web.Response:
        return web.Response(status=301)

    async def silent(self, request: web.Request) -> web.Response:
        """Accept the request and never answer."""
        await asyncio.Event().wait()
        return web.Response()

    async def stalled(self, request: web.Request) -> web.StreamResponse:
        """Send the beginning of a file, then nothing more, with the connection left open."""
        response = await _begin_response(request, {"Content-Length": "1000000"})
        await response.write(PDF)
        await asyncio.Event().wait()
        return response

    async def dripping(self, request: web.Request) -> web.StreamResponse:
        """Send a byte at a time forever (slow loris)."""
        response = await _begin_response(request, {"Content-Length": "1000000"})
        await response.write(PDF)
        return await _write_forever(response, _drip())

    async def bursting(self, request: web.Request) -> web.StreamResponse:
        """Send a megabyte and then a byte at a time (slow loris), so that the mean speed looks normal."""
        response = await _begin_response(request, {})
        await response.write(PDF.ljust(2**20))
        return await _write_forever(response, _drip())

    async def endless(self, request: web.Request) -> web.StreamResponse:
        response = await _begin_response(request, {})
        await response.write(PDF)
        return await _write_forever(response, _generate_zeros())

    async def endless_redirect(self, request: web.Request) -> web.StreamResponse:
        """Redirect with an endless body, which a client must not read."""
        response = web.StreamResponse(status=302, headers={"Location": "honest.pdf"})
        await response.prepare(request)
        return await _write_forever(response, _generate_zeros())

    async def five_gigabytes(self, request: web.Request) -> web.StreamResponse:
        response = await _begin_response(request, {"Content-Length": str(FIVE_GIGABYTES)})
        return await _write_forever(response, _generate_zeros())

    async def cut_short(self, request: web.Request) -> web.StreamResponse:
        """Close the connection after half of the announced length."""
        response = await _begin_response(request, {"Content-Length": str(2 * len(PDF))})
        await response.write(PDF)
        if request.transport is not None:
            request.transport.close()
        return response

    async def bomb(self, request: web.Request) -> web.StreamResponse:
        """Serve two megabytes of gzip that decompress to two gigabytes."""
        response = await _begin_response(request, {"Content-Encoding": "gzip"})
        packer = zlib.compressobj(9, wbits=-15)
        await response.write(_GZIP_HEADER + packer.compress(PDF) + packer.flush(zlib.Z_FULL_FLUSH))
        size = 2**24
        # After a full flush, nothing refers to earlier data, so the same bytes can be repeated.
        block = packer.compress(bytes(size)) + packer.flush(zlib.Z_FULL_FLUSH)
        for _ in range(_UNPACKED_BYTES // size):
            await response.write(block)
        return response

    async def broken_packing(self, request: web.Request) -> web.Response:
        return web.Response(body=PDF * 20, content_type="application/pdf", headers={"Content-Encoding": "gzip"})

    async def unasked_packing(self, request: web.Request) -> web.Response:
        return web.Response(body=PDF, content_type="application/pdf", headers={"Content-Encoding": "gzip, gzip"})

    async def picture(self, request: web.Request) -> web.Response:
        return web.Response(body=PDF, content_type="image/png")

    async def login(self, request: web.Request) -> web.Response:
        """Serve the login page that many publishers send in place of a PDF, under a PDF's name."""
        return web.Response(body=LOGIN, content_type="application/pdf")

    async def empty(self, request: web.Request) -> web.Response:
        return web.Response(body=b"", content_type="application/pdf")

    async def long_header(self, request: web.Request) -> web.Response:
        return web.Response(body=PDF, content_type="application/pdf", headers={"X-Long": "x" * 2**20})

    async def status(self, request: web.Request) -> web.Response:
        return web.Response(body=PDF, status=int(request.match_info["status"]), content_type="application/pdf")


async def _begin_response(request: web.Request, headers: dict[str, str]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/pdf", **headers})
    await response.prepare(request)
    return response


async def _write_forever(response: web.StreamResponse, pieces: AsyncIterator[bytes]) -> web.StreamResponse:
    """Write pieces until the client disconnects, which cancels the handler."""
    async for piece in pieces:
        await response.write(piece)
    return response


async def _drip() -> AsyncIterator[bytes]:
    while True:
        await asyncio.sleep(_DRIP_SECONDS)
        yield b"x"


async def _generate_zeros() -> AsyncIterator[bytes]:
    block = bytes(65_536)
    while True:
        yield block
