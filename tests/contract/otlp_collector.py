"""Trace collector that receives OTLP over HTTP and records the spans."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector:
    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.spans: list[Span] = []
        self.services: set[str] = set()
        self.requests = 0
        self._came = asyncio.Condition()

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.read()
        if request.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        trace_request = ExportTraceServiceRequest.FromString(body)
        async with self._came:
            self.requests += 1
            for resource in trace_request.resource_spans:
                self.services.add(str(read_attributes(resource.resource)["service.name"]))
                self.spans += [span for scope in resource.scope_spans for span in scope.spans]
            self._came.notify_all()
        return web.Response(status=self.status)

    async def wait_for_span(self, name: str) -> Span:
        """Wait until a span with this name has arrived, and return it."""
        async with asyncio.timeout(60), self._came:
            await self._came.wait_for(lambda: any(span.name == name for span in self.spans))
        return next(span for span in self.spans if span.name == name)


def read_attributes(holder: Any) -> dict[str, object]:
    """Return the attributes of a span or a resource."""
    return {
        attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value")) for attribute in holder.attributes
    }


@asynccontextmanager
async def run_collector() -> AsyncIterator[Collector]:
    new_collector = Collector()
    app = web.Application()
    app.router.add_post("/v1/traces", new_collector.handle)
    async with TestServer(app, host="127.0.0.1") as server:
        new_collector.url = str(server.make_url("")).rstrip("/")
        yield new_collector
