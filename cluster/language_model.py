"""The language model composed from the settings: its gateway, or the tasks' fallbacks; limits and batches shared."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from assayer.llm import Llm
from assayer.ports import Embedder
from cluster.clock import SystemClock
from cluster.settings import Settings
from orchestrator.store import Database, PgAnswerCache, PgClaims, PgRateLimits
from orchestrator.store.llm_batches import PgBatchBook
from workers.llm import LlmSettings
from workers.llm.fallback_llm import FallbackLlm
from workers.llm.shared_admission import shared_transport

if TYPE_CHECKING:
    from workers.llm.batches.batch_tier import BatchTier
    from workers.llm.client import EndpointTransport

__all__ = ["open_llm"]


async def open_llm(
    settings: Settings,
    database: Database,
    embedder: Embedder,
    stack: AsyncExitStack,
    must_answer: bool = True,
    for_service: bool = False,
    beside_others: bool = False,
) -> Llm:
    """The gateway, or the tasks' fallbacks where no model is configured. That of a service shares the limits of the
    endpoint with all its processes, and has batches; one beside others shares the limits alone. Raises LlmUnavailable
    when nobody answers there and it must."""
    if settings.llm is None:
        return FallbackLlm(embedder)
    from workers.llm.gateway import LlmGateway

    answers, clock = PgAnswerCache(database), SystemClock()
    live = batches = None
    if for_service or beside_others:
        live = shared_transport(settings.llm, PgRateLimits(database), clock)
        if for_service and settings.llm.batch.enabled:
            batches = await _open_batches(settings.llm, live, database, clock, stack)
    gateway = await stack.enter_async_context(LlmGateway(settings.llm, answers, clock, live, batches))
    if settings.evaluation.max_usd is not None:
        gateway.require_prices()
    if must_answer:
        await gateway.reach()
    return gateway


async def _open_batches(
    settings: LlmSettings, live: "EndpointTransport", database: Database, clock: SystemClock, stack: AsyncExitStack
) -> "BatchTier":
    from workers.llm.batches.batch_tier import make_batch_tier

    book = PgBatchBook(database, settings.endpoint)
    return await stack.enter_async_context(make_batch_tier(settings, live, book, PgClaims(database), clock))
