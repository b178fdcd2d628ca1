"""Handling of calls whose batch is no longer reachable."""

import datetime as dt

import pytest

from assayer.models import Fault
from assayer.models.llm_batches import BatchCall
from orchestrator.store import Database
from orchestrator.store.llm_batches import PgBatchBook
from workers.llm import LlmBatchSettings, LlmSettings
from workers.llm.batches.batch_dispatcher import BatchDispatcher
from workers.llm.batches.remote_batches import RemoteBatch, RemoteBatches
from workers.llm.endpoint import LlmEndpoint
from workers.llm.error_body import ErrorBody
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure
from workers.outbound.claims import InMemoryClaims

DOWN = TransientLlmFailure(Fault(kind="connection", detail="no connection"))
REVOKED = PermanentLlmFailure("wrong_key", 401, ErrorBody("no", "", ""))
SETTINGS = LlmBatchSettings(enabled=True, gather_seconds=0.0, cancel_seconds=100.0)


class HandClock:
    def __init__(self) -> None:
        self.passed = 0.0
        self._began = dt.datetime.now(dt.UTC)

    def now(self) -> dt.datetime:
        return self._began + dt.timedelta(seconds=self.passed)

    def monotonic(self) -> float:
        return self.passed


class LostEndpoint(RemoteBatches):
    """Endpoint of which every request fails."""

    def __init__(self, failure: Exception, clock: HandClock) -> None:
        endpoint = LlmEndpoint(LlmSettings(base_url="http://host/v1", model="m"), clock)
        super().__init__(endpoint, SETTINGS.window, SETTINGS.most_bytes)
        self.failure = failure

    async def find(self, batch_id: str, created_at: float) -> RemoteBatch | None:
        raise self.failure

    async def fetch(self, remote_id: str) -> RemoteBatch:
        raise self.failure


@pytest.mark.parametrize("failure", [DOWN, REVOKED], ids=["down", "revoked"])
@pytest.mark.parametrize("is_sent", [True, False])
async def test_requests_of_unreachable_batch_are_returned_only_after_deadline_grace(
    database: Database, failure: Exception, is_sent: bool
) -> None:
    clock = HandClock()
    book = PgBatchBook(database, "endpoint")
    until = clock.now() + dt.timedelta(seconds=1_000)
    await book.enqueue(BatchCall(key="a", run_id="run", model="m", body="{}", until=until))
    dispatcher = BatchDispatcher(SETTINGS, book, LostEndpoint(failure, clock), InMemoryClaims(clock.monotonic), clock)
    await dispatcher.process_due()
    (batch,) = await book.list_open_batches()
    if is_sent:
        await book.mark_sent(batch.id, "batch_1")
    waiting = []
    for moment in (500.0, 1_050.0, 1_100.0):
        clock.passed = moment
        await dispatcher.process_due()
        waiting.append(await book.collect("a") is None)
    assert waiting == [True, True, False]
    assert await book.list_open_batches() == []


async def test_process_without_claim_sends_nothing(database: Database) -> None:
    clock = HandClock()
    book, claims = PgBatchBook(database, "endpoint"), InMemoryClaims(clock.monotonic)
    until = clock.now() + dt.timedelta(seconds=1_000)
    await book.enqueue(BatchCall(key="a", run_id="run", model="m", body="{}", until=until))
    await claims.claim("batches of calls to the LLM", "another process", 45.0)
    dispatcher = BatchDispatcher(SETTINGS, book, LostEndpoint(DOWN, clock), claims, clock)
    await dispatcher.process_due()
    assert await book.list_open_batches() == []
    clock.passed = 46.0
    await dispatcher.process_due()
    assert len(await book.list_open_batches()) == 1
