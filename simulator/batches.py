"""HTTP handlers of files and batches: /v1/files and /v1/batches."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from itertools import count
from random import Random
from typing import Any, Protocol

from aiohttp import BodyPartReader, web

from simulator.batch_jobs import BatchJob, BatchRunner, LineAnswer, StoredFile
from simulator.counters import Counters
from simulator.protocol import ApiError, authorise, build_server_error
from simulator.replies import build_error_response
from simulator.settings import Settings

Handler = Callable[[web.Request], Awaitable[web.Response]]

_MAX_PAGE_SIZE = 100
_WINDOW = "24h"
_WINDOW_SECONDS = 86_400.0
_MAX_METADATA = 16
_BAD_GATEWAY = 0.9
"""Random value for which `build_server_error` returns a 502."""


class _BatchEndpoint(Protocol):
    """Endpoint that provides settings and counters, and answers the lines of batches."""

    @property
    def settings(self) -> Settings: ...
    @property
    def counters(self) -> Counters: ...
    def answer_line(self, body: dict[str, Any]) -> LineAnswer: ...


class BatchRoutes:
    """Handlers that keep files and batches in memory and run the batches."""

    def __init__(self, endpoint: _BatchEndpoint) -> None:
        self._endpoint = endpoint
        self._numbers = count(1)
        self._files: dict[str, StoredFile] = {}
        self._batches: dict[str, BatchJob] = {}
        self._runs: set[asyncio.Task[None]] = set()
        self._lost_replies = Random(endpoint.settings.seed)
        self._runner = BatchRunner(
            lambda: endpoint.settings,
            lambda: endpoint.counters,
            endpoint.answer_line,
            lambda name, content: self._store_file(name, "batch_output", content),
        )

    def list_routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/files", self._guard(self.upload_file)),
            web.get("/v1/files", self._guard(self.list_files)),
            web.get("/v1/files/{id}", self._guard(self.show_file)),
            web.delete("/v1/files/{id}", self._guard(self.delete_file)),
            web.get("/v1/files/{id}/content", self._guard(self.show_content)),
            web.post("/v1/batches", self._guard(self.create_batch)),
            web.get("/v1/batches", self._guard(self.list_batches)),
            web.get("/v1/batches/{id}", self._guard(self.show_batch)),
            web.post("/v1/batches/{id}/cancel", self._guard(self.cancel_batch)),
        ]

    async def upload_file(self, request: web.Request) -> web.Response:
        fields = await _read_form(request)
        purpose, upload = fields.get("purpose"), fields.get("file")
        if purpose is None or purpose.content != b"batch":
            raise ApiError(400, "Invalid value for 'purpose': only 'batch' is simulated.", param="purpose")
        if upload is None:
            raise ApiError(400, "'file' is a required property", param="file")
        return self._reply(self._store_file(upload.filename, "batch", upload.content).describe())

    async def list_files(self, request: web.Request) -> web.Response:
        purpose = request.query.get("purpose")
        files = [file for file in self._files.values() if purpose in {None, file.purpose}]
        if request.query.get("order", "desc") == "desc":
            files.reverse()
        return _build_page(request, {file.id: file.describe() for file in files})

    async def show_file(self, request: web.Request) -> web.Response:
        return web.json_response(self._get_file(request.match_info["id"]).describe())

    async def delete_file(self, request: web.Request) -> web.Response:
        file = self._get_file(request.match_info["id"])
        del self._files[file.id]
        return web.json_response({"id": file.id, "object": "file", "deleted": True})

    async def show_content(self, request: web.Request) -> web.Response:
        file = self._get_file(request.match_info["id"])
        return web.Response(body=file.content, content_type="application/octet-stream")

    async def create_batch(self, request: web.Request) -> web.Response:
        body = _parse_json_object(await request.read())
        if body.get("endpoint") != "/v1/chat/completions":
            raise ApiError(400, "Invalid value for 'endpoint': only /v1/chat/completions is simulated.")
        if body.get("completion_window") != _WINDOW:
            raise ApiError(400, f"Invalid value: 'completion_window' must be '{_WINDOW}'.", param="completion_window")
        file = self._get_file(str(body.get("input_file_id")))
        batch = self._create_batch(file, _parse_metadata(body.get("metadata")))
        run = asyncio.create_task(self._runner.run(batch, file.content))
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)
        return self._reply(batch.describe())

    async def list_batches(self, request: web.Request) -> web.Response:
        newest_first = dict(reversed(self._batches.items()))
        return _build_page(request, {batch.id: batch.describe() for batch in newest_first.values()})

    async def show_batch(self, request: web.Request) -> web.Response:
        return web.json_response(self._get_batch(request.match_info["id"]).describe())

    async def cancel_batch(self, request: web.Request) -> web.Response:
        batch = self._get_batch(request.match_info["id"])
        if batch.has_ended:
            raise ApiError(409, f"Cannot cancel a batch with status '{batch.status}'.")
        batch.change_status("cancelling")
        batch.stop.set()
        return web.json_response(batch.describe())

    def _create_batch(self, file: StoredFile, metadata: dict[str, str]) -> BatchJob:
        self._endpoint.counters.batches += 1
        seconds = self._endpoint.settings.batch_window_seconds or _WINDOW_SECONDS
        batch = BatchJob(f"batch_{next(self._numbers):024d}", file.id, _WINDOW, seconds, metadata, time.time())
        self._batches[batch.id] = batch
        return batch

    def _store_file(self, name: str, purpose: str, content: bytes) -> StoredFile:
        file = StoredFile(f"file-{next(self._numbers):024d}", name, purpose, content, int(time.time()))
        self._files[file.id] = file
        return file

    def _get_file(self, name: str) -> StoredFile:
        if name not in self._files:
            raise ApiError(404, f"No such File object: {name}", param="id")
        return self._files[name]

    def _get_batch(self, name: str) -> BatchJob:
        if name not in self._batches:
            raise ApiError(404, f"No batch found with id '{name}'.")
        return self._batches[name]

    def _reply(self, body: dict[str, Any]) -> web.Response:
        """Return a response with the created object, unless a lost response is simulated."""
        if self._lost_replies.random() < self._endpoint.settings.batch_lost_reply_rate:
            self._endpoint.counters.injected["batch_lost_reply"] += 1
            raise build_server_error(_BAD_GATEWAY)
        return web.json_response(body)

    def _guard(self, handler: Handler) -> Handler:
        @wraps(handler)
        async def handle(request: web.Request) -> web.Response:
            try:
                authorise(request.headers.get("Authorization"), self._endpoint.settings.api_key)
                return await handler(request)
            except ApiError as error:
                return build_error_response(error)

        return handle


class _Field:
    def __init__(self, filename: str, content: bytes) -> None:
        self.filename = filename
        self.content = content


async def _read_form(request: web.Request) -> dict[str, _Field]:
    """Return the fields of a multipart form by name. Raises ApiError (400) if the request has no such form."""
    if not request.content_type.startswith("multipart/"):
        raise ApiError(400, "This endpoint expects a multipart form.")
    fields: dict[str, _Field] = {}
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            raise ApiError(400, "This endpoint expects a multipart form.")
        fields[part.name or ""] = _Field(part.filename or "", bytes(await part.read()))
    return fields


def _build_page(request: web.Request, objects: Mapping[str, dict[str, Any]]) -> web.Response:
    """Return a page of a list, starting after the object that the query parameter `after` names."""
    names = list(objects)
    previous_name = request.query.get("after", "")
    first = names.index(previous_name) + 1 if previous_name in objects else 0
    size = min(int(request.query.get("limit", "20")), _MAX_PAGE_SIZE)
    page_names = names[first : first + size]
    return web.json_response(
        {
            "object": "list",
            "data": [objects[name] for name in page_names],
            "first_id": page_names[0] if page_names else None,
            "last_id": page_names[-1] if page_names else None,
            "has_more": first + size < len(names),
        }
    )


def _parse_json_object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ApiError(400, "We could not parse the JSON body of your request. The API expects a JSON payload.")
    return body


def _parse_metadata(metadata: Any) -> dict[str, str]:
    pairs = {} if metadata is None else metadata
    if not isinstance(pairs, dict) or len(pairs) > _MAX_METADATA:
        raise ApiError(400, f"Invalid 'metadata': expected at most {_MAX_METADATA} pairs.", param="metadata")
    return {str(name): str(value) for name, value in pairs.items()}
