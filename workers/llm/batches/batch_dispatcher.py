"""Send due batches and monitor those in flight, in only one process at a time per endpoint.

Creating a batch at the endpoint costs money, so it must not happen twice. The batch's row is therefore stored in the
book first, with its calls, and the batch carries the row's id. A process that finds a row without a remote id looks for
the batch at the endpoint before sending one, because the response may have been lost or the process may have died."""

import asyncio
import datetime as dt
import logging
from uuid import uuid4

from assayer.models.llm_batches import GatherRules, OutgoingBatch
from assayer.ports import Clock
from workers.llm.batches.batch_book import BatchBook
from workers.llm.batches.remote_batches import RemoteBatch, RemoteBatches, write_batch_lines
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure
from workers.llm.metrics import BATCHES
from workers.llm.settings import LlmBatchSettings
from workers.outbound.claims import Claims

_LOG = logging.getLogger(__name__)
_CLAIM_SECONDS = 45.0
"""Seconds until another process takes over from one that died while sending. Must exceed the duration of a request that
creates a batch."""
_CLOCK_TOLERANCE_SECONDS = 3_600.0
"""Tolerance for clock differences: a batch at the endpoint may seem this many seconds older than its row."""
_FORGET_SECONDS = 2 * 86_400.0
_FIXABLE_REASONS = frozenset({"wrong_key", "forbidden", "quota"})
"""Reasons for a refusal that an operator can fix. The batch waits for the fix until some time after its deadline."""


class BatchDispatcher:
    def __init__(
        self, settings: LlmBatchSettings, book: BatchBook, remote: RemoteBatches, claims: Claims, clock: Clock
    ) -> None:
        self._settings = settings
        self._book = book
        self._remote = remote
        self._claims = claims
        self._clock = clock
        self._claimant = uuid4().hex
        self._rules = GatherRules(
            settings.gather_seconds, settings.longest_gather_seconds, settings.most_requests, settings.most_bytes
        )

    async def process_due(self) -> None:
        """Process everything that is due now, unless another process is already doing so. Raises StorageError."""
        if not await self._acquire_claim():
            return
        try:
            await self._book.expire_overdue()
            for batch in await self._book.list_open_batches():
                await self._advance(batch)
            while (due_batch := await self._book.gather(self._rules)) is not None:
                await self._advance(due_batch)
            if deleted_answers := await self._book.delete_older(_FORGET_SECONDS):
                _LOG.warning(
                    "%d paid answers from batches were never collected, because their jobs had ended", deleted_answers
                )
        except _ClaimLost:
            _LOG.info("another process has taken over sending the batches")
        finally:
            await self._claims.release(_CLAIM_KEY, self._claimant)

    async def _acquire_claim(self) -> bool:
        """Claim the sending of batches for `_CLAIM_SECONDS`, or renew the claim. Return whether this succeeded."""
        return await self._claims.claim(_CLAIM_KEY, self._claimant, _CLAIM_SECONDS)

    async def _advance(self, batch: OutgoingBatch) -> None:
        """Advance a batch by one step. After a temporary failure, the next round retries the step, until
        `cancel_seconds` after the deadline."""
        if not await self._acquire_claim():
            raise _ClaimLost
        try:
            await (self._watch(batch) if batch.remote_id else self._send(batch))
        except TransientLlmFailure as failure:
            _LOG.warning("batch %s: %s", batch.id, failure)
            await self._abandon_if_late(batch)
        except PermanentLlmFailure as failure:
            if failure.reason in _FIXABLE_REASONS:
                _LOG.error("batch %s was refused by the endpoint: %s", batch.id, failure)
                await self._abandon_if_late(batch)
                return
            _LOG.error("batch %s failed: %s; its requests are sent to the live endpoint", batch.id, failure)
            await self._abandon(batch)

    async def _send(self, batch: OutgoingBatch) -> None:
        earliest_creation = batch.created_at.timestamp() - _CLOCK_TOLERANCE_SECONDS
        existing = await self._remote.find(batch.id, earliest_creation)
        if existing is not None:
            _LOG.info("batch %s already exists at the endpoint, as %s", batch.id, existing.id)
            await self._book.mark_sent(batch.id, existing.id)
            return
        calls = await self._book.list_calls(batch.id)
        if not calls or self._clock.now() >= batch.until:
            await self._book.close(batch.id, ())
            return
        lines = await asyncio.to_thread(write_batch_lines, calls)
        file_id = await self._remote.upload(batch.id, lines)
        if not await self._acquire_claim():
            raise _ClaimLost
        created = await self._remote.create(batch.id, file_id)
        await self._book.mark_sent(batch.id, created.id)
        BATCHES.labels("sent").inc()
        _LOG.info("batch %s: sent %d requests to model %s, as %s", batch.id, len(calls), batch.model, created.id)

    async def _watch(self, batch: OutgoingBatch) -> None:
        remote = await self._remote.fetch(batch.remote_id)
        now = self._clock.now()
        if remote.has_ended:
            await self._close(batch, remote)
        elif batch.cancelled_at is None and now >= batch.until:
            _LOG.warning("batch %s is past its deadline: cancelling it", batch.id)
            await self._remote.cancel(batch.remote_id)
            await self._book.mark_cancelled(batch.id)
        elif batch.cancelled_at is not None and now - batch.cancelled_at >= self._max_wait:
            _LOG.error(
                "batch %s did not end after it was cancelled: some of its requests may be paid for twice", batch.id
            )
            await self._abandon(batch)

    @property
    def _max_wait(self) -> dt.timedelta:
        return dt.timedelta(seconds=self._settings.cancel_seconds)

    async def _close(self, batch: OutgoingBatch, remote: RemoteBatch) -> None:
        results = await self._remote.fetch_results(remote)
        await self._book.close(batch.id, results)
        BATCHES.labels(remote.status).inc()
        answered = sum(result.answer is not None for result in results)
        reason = f": {remote.problem}" if remote.problem else ""
        _LOG.info("batch %s is %s%s; it answered %d requests", batch.id, remote.status, reason, answered)
        for file_id in remote.file_ids:
            try:
                await self._remote.delete(file_id)
            except (TransientLlmFailure, PermanentLlmFailure) as failure:
                _LOG.warning("file %s of batch %s could not be deleted: %s", file_id, batch.id, failure)

    async def _abandon_if_late(self, batch: OutgoingBatch) -> None:
        """Give up a batch that cannot be sent or checked, if its deadline passed more than `cancel_seconds` ago."""
        if self._clock.now() - batch.until >= self._max_wait:
            _LOG.error(
                "batch %s was abandoned after its deadline: some of its requests may be paid for twice", batch.id
            )
            await self._abandon(batch)

    async def _abandon(self, batch: OutgoingBatch) -> None:
        await self._book.close(batch.id, ())
        BATCHES.labels("abandoned").inc()


_CLAIM_KEY = "batches of calls to the LLM"


class _ClaimLost(Exception):
    """Raised if the claim was lost because the work took longer than the claim lasts and another process has taken
    over."""
