"""Files and batches of the simulated endpoint, and the processing of batches, without HTTP.

validating ── invalid lines ──> failed
 └ in_progress ── all lines done ──> finalizing ──> completed
     ├ cancel requested ──> cancelling ──> cancelled
     └ completion window over ──> expired
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random
from typing import Any, Literal, NamedTuple

from simulator.counters import Counters
from simulator.settings import Settings

BatchStatus = Literal[
    "validating", "failed", "in_progress", "finalizing", "completed", "expired", "cancelling", "cancelled"
]
_ENDED = frozenset({"failed", "completed", "expired", "cancelled"})

_UNPROCESSED_ERRORS = {
    "expired": ("batch_expired", "This request could not be executed before the completion window expired."),
    "cancelled": ("batch_cancelled", "This request was not executed because the batch was cancelled."),
}


@dataclass
class StoredFile:
    id: str
    filename: str
    purpose: str
    content: bytes
    created: int

    def describe(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created,
            "filename": self.filename,
            "purpose": self.purpose,
            "status": "processed",
            "status_details": None,
        }


@dataclass
class BatchJob:
    id: str
    input_file: str
    window: str
    window_seconds: float
    metadata: dict[str, str]
    created: float
    status: BatchStatus = "validating"
    status_times: dict[str, int] = field(default_factory=dict)
    """Time at which it entered each state, in Unix seconds."""
    total: int = 0
    completed: int = 0
    failed: int = 0
    output_file: str | None = None
    error_file: str | None = None
    errors: list[dict[str, Any]] = field(default_factory=list)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    """Event that is set when the batch is cancelled."""

    @property
    def has_ended(self) -> bool:
        return self.status in _ENDED

    def change_status(self, status: BatchStatus) -> None:
        self.status = status
        self.status_times[status] = int(time.time())

    def fail(self, code: str, message: str) -> None:
        self.errors = [{"code": code, "message": message, "line": None, "param": None}]
        self.change_status("failed")

    def describe(self) -> dict[str, Any]:
        names = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")
        errors = {"object": "list", "data": self.errors} if self.errors else None
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "errors": errors,
            "input_file_id": self.input_file,
            "completion_window": self.window,
            "status": self.status,
            "output_file_id": self.output_file,
            "error_file_id": self.error_file,
            "created_at": int(self.created),
            "expires_at": int(self.created + self.window_seconds),
            **{f"{name}_at": self.status_times.get(name) for name in names},
            "request_counts": {"total": self.total, "completed": self.completed, "failed": self.failed},
            "metadata": self.metadata,
        }


class LineAnswer(NamedTuple):
    status: int
    body: dict[str, Any]
    """Body of the completion or of the error."""


class _Line(NamedTuple):
    custom_id: str
    body: dict[str, Any]


class _BadLine(Exception):
    """Invalid line of an input file, with the code and message of the real API."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class BatchRunner:
    """Runner of batches. The outcome of a batch depends on the seed and its lines."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        counters: Callable[[], Counters],
        answer: Callable[[dict[str, Any]], LineAnswer],
        store: Callable[[str, bytes], StoredFile],
    ) -> None:
        """Create a runner; `answer` answers the body of a line, `store` stores a result file under a name."""
        self._settings = settings
        self._counters = counters
        self._answer = answer
        self._store = store

    async def run(self, batch: BatchJob, content: bytes) -> None:
        """Run a batch until it ends or is cancelled; `content` is its input file."""
        settings = self._settings()
        rng = Random(blake2b(content, key=settings.seed.to_bytes(8, "little"), digest_size=8).digest())
        point = rng.random()
        try:
            lines = _parse_lines(content)
        except _BadLine as error:
            batch.fail(error.code, str(error))
            return
        if point < settings.batch_failed_rate:
            self._counters().injected["batch_failed"] += 1
            batch.fail("internal_error", "The batch could not be validated.")
            return
        batch.total = len(lines)
        batch.change_status("in_progress")
        await self._process_lines(batch, lines, rng, point - settings.batch_failed_rate)

    async def _process_lines(self, batch: BatchJob, lines: list[_Line], rng: Random, point: float) -> None:
        settings = self._settings()
        is_stalled = point < settings.batch_stall_rate
        is_cancelled = not is_stalled and point < settings.batch_stall_rate + settings.batch_cancelled_rate
        rng.shuffle(lines)  # results are not in the order of the input
        processed_count = len(lines) // 2 if is_stalled or is_cancelled else len(lines)
        results: list[dict[str, Any]] = []
        errors: list[dict[str, Any]] = []
        began = time.monotonic()
        for number, line in enumerate(lines[:processed_count]):
            await self._wait_until(batch, began + settings.batch_seconds * number / len(lines))
            if batch.stop.is_set() or self._has_expired(batch):
                break
            self._process_line(batch, line, rng, results, errors)
        else:
            await self._wait_until(batch, began + settings.batch_seconds * processed_count / len(lines))
        remaining_lines = lines[batch.completed + batch.failed :]
        if is_cancelled and remaining_lines:
            self._counters().injected["batch_cancelled"] += 1
            batch.change_status("cancelling")
            batch.stop.set()
        elif remaining_lines and not batch.stop.is_set():
            self._counters().injected["batch_expired"] += 1
            await self._wait_until(batch, began + batch.window_seconds)
        self._finish(batch, remaining_lines, results, errors)

    def _process_line(
        self,
        batch: BatchJob,
        line: _Line,
        rng: Random,
        results: list[dict[str, Any]],
        errors: list[dict[str, Any]],
    ) -> None:
        is_refused = rng.random() < self._settings().batch_line_error_rate
        if is_refused:
            self._counters().injected["batch_line_error"] += 1
            message = "The server had an error while processing your request. Sorry about that!"
            answer = LineAnswer(500, {"error": {"message": message, "type": "server_error", "code": None}})
        else:
            answer = self._answer(line.body)
        response = {"status_code": answer.status, "request_id": "req_simulator", "body": answer.body}
        result = {"id": _compute_line_id(batch, line), "custom_id": line.custom_id, "response": response, "error": None}
        if answer.status == 200:
            batch.completed += 1
            results.append(result)
        else:
            batch.failed += 1
            errors.append(result)

    def _finish(
        self, batch: BatchJob, remaining_lines: list[_Line], results: list[dict[str, Any]], errors: list[dict[str, Any]]
    ) -> None:
        end: BatchStatus = "completed"
        if remaining_lines:
            end = "cancelled" if batch.stop.is_set() else "expired"
            code, message = _UNPROCESSED_ERRORS[end]
            error = {"code": code, "message": message}
            errors += [
                {"id": _compute_line_id(batch, line), "custom_id": line.custom_id, "response": None, "error": error}
                for line in remaining_lines
            ]
            batch.failed += len(remaining_lines)
        batch.change_status("finalizing")
        if results:
            batch.output_file = self._store(f"{batch.id}_output.jsonl", _join_lines(results)).id
        if errors:
            batch.error_file = self._store(f"{batch.id}_error.jsonl", _join_lines(errors)).id
        batch.change_status(end)

    def _has_expired(self, batch: BatchJob) -> bool:
        return time.time() - batch.created >= batch.window_seconds

    async def _wait_until(self, batch: BatchJob, moment: float) -> None:
        """Wait until `moment` (monotonic clock) or until the batch is cancelled; always yields to other tasks."""
        remaining_seconds = moment - time.monotonic()
        if remaining_seconds <= 0:
            await asyncio.sleep(0)
            return
        try:
            async with asyncio.timeout(remaining_seconds):
                await batch.stop.wait()
        except TimeoutError:
            return


def _compute_line_id(batch: BatchJob, line: _Line) -> str:
    return "batch_req_" + blake2b(f"{batch.id}{line.custom_id}".encode(), digest_size=12).hexdigest()


def _join_lines(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _parse_lines(content: bytes) -> list[_Line]:
    raw_lines = [line for line in content.split(b"\n") if line.strip()]
    if not raw_lines:
        raise _BadLine("empty_file", "The input file is empty. Please ensure that it contains at least one request.")
    lines = [_parse_line(raw_line, number) for number, raw_line in enumerate(raw_lines, 1)]
    if len({line.custom_id for line in lines}) < len(lines):
        raise _BadLine("duplicate_custom_id", "The custom_id of every request of a batch must be unique.")
    if len({line.body.get("model") for line in lines}) > 1:
        raise _BadLine("mismatched_model", "All requests of a batch must be for the same model.")
    return lines


def _parse_line(raw: bytes, number: int) -> _Line:
    try:
        line = json.loads(raw)
        custom_id, method, url, body = line["custom_id"], line["method"], line["url"], line["body"]
    except (ValueError, TypeError, KeyError):
        raise _BadLine("invalid_json_line", f"Line {number} is not a request in the form of a batch.") from None
    if method != "POST" or url != "/v1/chat/completions":
        raise _BadLine("mismatched_endpoint", f"Line {number} is for another endpoint than the batch.")
    if not isinstance(custom_id, str) or not custom_id or not isinstance(body, dict):
        raise _BadLine("invalid_request", f"Line {number} has no custom_id or no body.")
    return _Line(custom_id, body)
