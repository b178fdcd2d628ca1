"""Client for files and batches at an OpenAI-compatible endpoint."""

import json
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import aiohttp
from pydantic import BaseModel, Field, ValidationError

from assayer.models import Fault
from assayer.models.llm_batches import BatchCall, LineResult
from workers.llm.endpoint import LlmEndpoint
from workers.llm.error_body import clip_line
from workers.llm.errors import TransientLlmFailure

_METADATA_KEY = "assayer-batch"
"""Metadata key under which a batch carries the id that this program gave it."""
_REQUEST_SECONDS = 20.0
"""Timeout in seconds for a request without a file."""
_TRANSFER_SECONDS = 600.0
_MAX_PAGES = 50
_PAGE_ITEMS = 100

RemoteStatus = Literal[
    "validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"
]


class _Problem(BaseModel):
    message: str | None = None


class _Problems(BaseModel):
    data: list[_Problem] | None = None


class RemoteBatch(BaseModel):
    """A batch, as reported by the endpoint."""

    id: str = Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_-]+$")
    status: RemoteStatus
    created_at: float = 0.0
    input_file_id: str | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Problems | None = None
    metadata: dict[str, str] | None = None

    @property
    def has_ended(self) -> bool:
        return self.status in {"completed", "failed", "expired", "cancelled"}

    @property
    def file_ids(self) -> list[str]:
        return [item for item in (self.input_file_id, self.output_file_id, self.error_file_id) if item]

    @property
    def problem(self) -> str:
        """Return the reason for the failure, on one line."""
        problems = (self.errors.data or []) if self.errors else []
        return clip_line("; ".join(item.message for item in problems if item.message))


class _File(BaseModel):
    id: str
    filename: str = ""


class _Batches(BaseModel):
    data: list[RemoteBatch]
    has_more: bool = False


class _Files(BaseModel):
    data: list[_File]
    has_more: bool = False


class _Response(BaseModel):
    status_code: int = 0
    body: Any = None


class _LineError(BaseModel):
    code: str | None = None
    message: str | None = None


class _ResultLine(BaseModel):
    custom_id: str = Field(pattern=r"^[0-9a-f]{64}$")
    response: _Response | None = None
    error: _LineError | None = None


M = TypeVar("M", bound=BaseModel)


class RemoteBatches:
    """Client for batches at the endpoint. Every method raises TransientLlmFailure or PermanentLlmFailure if its request
    fails."""

    def __init__(self, endpoint: LlmEndpoint, window: str, most_bytes: int) -> None:
        """Create a client. `most_bytes` limits the size of a sent file; result files may be four times as large."""
        self._endpoint = endpoint
        self._window = window
        self._max_result_bytes = 4 * most_bytes

    async def find(self, batch_id: str, created_at: float) -> RemoteBatch | None:
        """Return the batch whose metadata contains `batch_id`; None if there is none. `created_at` is the earliest
        possible creation time, in seconds since 1970, at which the search ends."""
        cursor_query = ""
        for _ in range(_MAX_PAGES):
            page = await self._read(_Batches, "GET", f"/batches?limit={_PAGE_ITEMS}{cursor_query}")
            for batch in page.data:
                if (batch.metadata or {}).get(_METADATA_KEY) == batch_id:
                    return batch
            # The newest batches come first.
            if not page.has_more or not page.data or page.data[-1].created_at < created_at:
                return None
            cursor_query = f"&after={page.data[-1].id}"
        return None

    async def upload(self, batch_id: str, lines: bytes) -> str:
        """Upload the file and return its id. If it was already uploaded before a crash, return the existing file's
        id."""
        name = f"assayer-{batch_id}.jsonl"
        existing = await self._find_file(name)
        if existing is not None:
            return existing
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        form.add_field("file", lines, filename=name, content_type="application/jsonl")
        answer = await self._endpoint.transfer("POST", "/files", _TRANSFER_SECONDS, form)
        return _parse_response(_File, answer).id

    async def create(self, batch_id: str, file_id: str) -> RemoteBatch:
        """Create the batch. This costs money, so the caller must look for an existing batch before calling this
        again."""
        body = {
            "input_file_id": file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": self._window,
            "metadata": {_METADATA_KEY: batch_id},
        }
        return await self._read(RemoteBatch, "POST", "/batches", json.dumps(body).encode())

    async def reach(self) -> None:
        """Check that the endpoint supports batches."""
        await self._read(_Batches, "GET", "/batches?limit=1")

    async def fetch(self, remote_id: str) -> RemoteBatch:
        return await self._read(RemoteBatch, "GET", f"/batches/{remote_id}")

    async def cancel(self, remote_id: str) -> RemoteBatch:
        return await self._read(RemoteBatch, "POST", f"/batches/{remote_id}/cancel")

    async def fetch_results(self, batch: RemoteBatch) -> list[LineResult]:
        """Return the results for all lines that the batch reports."""
        results: list[LineResult] = []
        for file_id in (batch.output_file_id, batch.error_file_id):
            if file_id:
                path = f"/files/{file_id}/content"
                content = await self._endpoint.transfer(
                    "GET", path, _TRANSFER_SECONDS, max_bytes=self._max_result_bytes
                )
                results += filter(None, map(_parse_result, content.split(b"\n")))
        return results

    async def delete(self, file_id: str) -> None:
        await self._endpoint.transfer("DELETE", f"/files/{file_id}", _REQUEST_SECONDS)

    async def _find_file(self, name: str) -> str | None:
        page = await self._read(_Files, "GET", f"/files?purpose=batch&limit={_PAGE_ITEMS}&order=desc")
        return next((file.id for file in page.data if file.filename == name), None)

    async def _read(self, model: type[M], method: Literal["GET", "POST"], path: str, body: bytes | None = None) -> M:
        return _parse_response(model, await self._endpoint.transfer(method, path, _REQUEST_SECONDS, body))


def write_batch_lines(calls: Sequence[BatchCall]) -> bytes:
    """Return a batch file's content. Calls with similar beginnings are placed next to each other, for servers that
    cache prompt prefixes."""
    return b"".join(
        b'{"custom_id":%s,"method":"POST","url":"/v1/chat/completions","body":%s}\n'
        % (json.dumps(call.key).encode(), call.body.encode())
        for call in sorted(calls, key=lambda call: call.body)
    )


def _parse_result(line: bytes) -> LineResult | None:
    """Return the result in a line; None if the line cannot be parsed. Its call then has no result when the batch
    ends."""
    try:
        result_line = _ResultLine.model_validate_json(line)
    except ValidationError:
        return None
    if result_line.response is not None and result_line.response.status_code == 200:
        return LineResult(result_line.custom_id, json.dumps(result_line.response.body))
    if result_line.error is not None and (result_line.error.message or result_line.error.code):
        return LineResult(
            result_line.custom_id, None, clip_line(result_line.error.message or result_line.error.code or "")
        )
    status = result_line.response.status_code if result_line.response is not None else 0
    return LineResult(result_line.custom_id, None, f"HTTP {status} in the batch" if status else "failed in the batch")


def _parse_response(model: type[M], raw: bytes) -> M:
    try:
        return model.model_validate_json(raw)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False, include_context=False)[0]
        location = ".".join(str(step) for step in first_error["loc"]) or "body"
        detail = f"not a response of the batch API: {location}: {first_error['msg']}"
        raise TransientLlmFailure(Fault(kind="server_error", detail=detail)) from None
