"""Batch tier, which answers requests that can wait, at a lower price and within a deadline, instead of the live
endpoint."""

import asyncio
import datetime as dt
import hashlib
import json
import logging
from collections.abc import Collection, Sequence
from typing import Self

from pydantic_core import to_json

from assayer.errors import ComponentUnavailable, StorageError
from assayer.models.llm_batches import BatchCall, CollectedCall
from assayer.ports import Clock
from workers.llm.batches.batch_book import BatchBook
from workers.llm.batches.batch_dispatcher import BatchDispatcher
from workers.llm.batches.remote_batches import RemoteBatches
from workers.llm.chat_completion import BatchReference, ChatRequest, ChatResult, Requester
from workers.llm.completion import UnusableResponse, parse_completion
from workers.llm.endpoint import LlmEndpoint
from workers.llm.metrics import BATCH_CALLS, WAITING_FOR_BATCH
from workers.llm.settings import LlmBatchSettings, LlmSettings
from workers.outbound.claims import Claims

_LOG = logging.getLogger(__name__)


class BatchTier:
    """Answers requests from batches. While its context is open, it sends and monitors batches, including those of
    processes that died. It belongs to one event loop.

    Requests use the dialect that the live endpoint is known to accept, or the first one to try. Lines refused because
    of their dialect are returned to the live endpoint, which adapts its dialect."""

    def __init__(
        self,
        settings: LlmBatchSettings,
        endpoint: LlmEndpoint,
        book: BatchBook,
        dispatcher: BatchDispatcher,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self._book = book
        self._dispatcher = dispatcher
        self._clock = clock
        self._waiters_by_key: dict[str, set[asyncio.Future[None]]] = {}
        self._task: asyncio.Task[None] | None = None
        self._stop_error: ComponentUnavailable | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run_until_cancelled(), name="batches of calls to the LLM")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop sending. Batches already sent stay at the endpoint, where the next process finds them."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def complete(self, request: ChatRequest, requester: Requester, until: dt.datetime) -> ChatResult:
        """Return the answer from a batch, or from the live endpoint after the deadline or if the batch had no answer.

        If the caller is cancelled, the call stays in the book without being billed, and the next identical call
        collects it. Raises StorageError, TransientLlmFailure or PermanentLlmFailure."""
        if self._clock.now() >= until:
            return await self._endpoint.complete(request, requester)
        body = to_json(request.build_body(self._endpoint.get_dialect(request.model))).decode()
        key = compute_request_key(request)
        call = BatchCall(key=key, run_id=requester.run, model=request.model, body=body, until=until)
        started = self._clock.monotonic()
        collected = await self._collect(call)
        result = self._parse_result(collected)
        BATCH_CALLS.labels(request.model, "returned" if result is None else "answered").inc()
        if result is None:
            result = await self._endpoint.complete(request, requester)
            return result._replace(waited=BatchReference(key, None))
        requester.record_send(started)
        return result._replace(waited=BatchReference(key, self._settings.price_share))

    async def claim_billing(self, keys: Collection[str], run_id: str) -> set[str]:
        """Return the keys of those batch answers for which the run pays. Raises StorageError."""
        return await self._book.claim_billing(keys, run_id)

    async def settle(self, keys: Collection[str]) -> None:
        """Mark the results of these calls as recorded in the ledger."""
        try:
            await self._book.settle(keys)
        except StorageError as error:  # unsettled calls are deleted later
            _LOG.warning("answered batch requests could not be marked as recorded: %s", error)

    async def _collect(self, call: BatchCall) -> CollectedCall:
        await self._book.enqueue(call)
        collected = await self._book.collect(call.key)
        while collected is None:
            if self._stop_error is not None:
                raise self._stop_error
            await self._wait_until_ended(call.key)
            collected = await self._book.collect(call.key)
            if collected is None:  # deleted together with the job whose run asked first
                await self._book.enqueue(call)
        return collected

    async def _wait_until_ended(self, key: str) -> None:
        """Wait until the call can be collected."""
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters_by_key.setdefault(key, set()).add(ended)
        try:
            with WAITING_FOR_BATCH.track_inprogress():
                await ended
        finally:
            self._waiters_by_key[key].discard(ended)
            if not self._waiters_by_key[key]:
                del self._waiters_by_key[key]

    def _parse_result(self, collected: CollectedCall) -> ChatResult | None:
        if collected.answer is None:
            return None
        try:
            completion = parse_completion(collected.answer.encode())
        except UnusableResponse as error:
            _LOG.warning("a response in a batch cannot be used: %s", error)
            return None
        return ChatResult(completion)

    async def _run_until_cancelled(self) -> None:
        try:
            await self._run()
        except Exception as error:
            self._stop_error = ComponentUnavailable(
                f"Sending and monitoring of batches stopped: {error!r}.", "Please report this."
            )
            self._resolve_waiters(list(self._waiters_by_key))
            raise

    async def _run(self) -> None:
        while True:
            try:
                await self._dispatcher.process_due()
                await self._wake_waiters()
            except StorageError as error:
                _LOG.warning("batches could not be sent or monitored: %s; trying again", error)
            await asyncio.sleep(self._settings.poll_seconds)

    async def _wake_waiters(self) -> None:
        if self._waiters_by_key:
            self._resolve_waiters(await self._book.find_ended(list(self._waiters_by_key)))

    def _resolve_waiters(self, keys: Sequence[str]) -> None:
        for key in keys:
            for ended in self._waiters_by_key.get(key, ()):
                if not ended.done():
                    ended.set_result(None)


def compute_request_key(request: ChatRequest) -> str:
    """Return the SHA-256 digest of a request's whole content. The digest identifies the request's answer. A repair
    attempt counts as a different request."""
    return hashlib.sha256(json.dumps(request).encode()).hexdigest()


def make_batch_tier(
    settings: LlmSettings, endpoint: LlmEndpoint, book: BatchBook, claims: Claims, clock: Clock
) -> BatchTier:
    """Create a batch tier that shares the live endpoint's connections. Batches are sent while its context is open."""
    batch = settings.batch
    remote = RemoteBatches(endpoint, batch.window, batch.most_bytes)
    return BatchTier(batch, endpoint, book, BatchDispatcher(batch, book, remote, claims, clock), clock)
