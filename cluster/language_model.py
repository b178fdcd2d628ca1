"""Access to the configured language model through the LLM gateway, with shared rate limits and the batch API."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import TYPE_CHECKING, NamedTuple

from assayer.errors import ConfigurationError
from assayer.llm import Llm, NoLlm
from assayer.ports import Embedder
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.settings import Settings
from orchestrator.store import Database, PgAnswerCache, PgClaims, PgSharedState
from orchestrator.store.llm_batches import PgBatchBook
from workers.embedding.embedder import create_local_embedder
from workers.llm import LlmSettings

if TYPE_CHECKING:
    from workers.llm.batches.batch_tier import BatchTier
    from workers.llm.endpoint import LlmEndpoint


class Models(NamedTuple):
    """Models and database for a command that runs in a single process."""

    llm: Llm
    embedder: Embedder
    database: Database
    clock: SystemClock


@asynccontextmanager
async def open_models(settings: Settings) -> AsyncIterator[Models]:
    """Open the models and the database. Raises ConfigurationError, StorageError, LlmRejected or LlmUnavailable if one
    of them cannot be used."""
    async with AsyncExitStack() as stack:
        embedder = stack.enter_context(closing(create_local_embedder(settings.embedder)))
        database = await stack.enter_async_context(open_database(settings))
        yield Models(await open_llm(settings, database, stack), embedder, database, SystemClock())


def require_llm(settings: Settings, work: str) -> None:
    """Raise ConfigurationError if no language model is configured. `work` names the task that needs one, for the
    message."""
    if settings.llm is None:
        raise ConfigurationError(
            f"{work} needs a language model, but none is configured.",
            "Pass --model PROVIDER/NAME (in Python, model=…), or set ASSAYER_LLM__MODEL and, for your own endpoint, "
            "ASSAYER_LLM__BASE_URL and ASSAYER_LLM__API_KEY.",
        )


def require_prices(llm: Llm) -> None:
    """Raise ConfigurationError if any model's price is unknown."""
    from workers.llm.gateway import LlmGateway

    if isinstance(llm, LlmGateway):
        llm.require_prices()


async def open_llm(
    settings: Settings,
    database: Database,
    stack: AsyncExitStack,
    must_answer: bool = True,
    for_service: bool = False,
    beside_others: bool = False,
) -> Llm:
    """Open the gateway, or return `NoLlm` if no model is configured. With `for_service` or `beside_others`, rate limits
    are shared with other processes through the database. With `for_service`, the batch API is also used if it is
    enabled. Raises LlmUnavailable if `must_answer` is set and the endpoint does not respond."""
    if settings.llm is None:
        return NoLlm()
    from workers.llm.endpoint import LlmEndpoint
    from workers.llm.gateway import LlmGateway

    answers, clock = PgAnswerCache(database), SystemClock()
    live = batches = None
    if for_service or beside_others:
        live = LlmEndpoint(settings.llm, clock, PgSharedState(database))
        if for_service and settings.llm.batch.enabled:
            batches = await _open_batches(settings.llm, live, database, clock, stack)
    gateway = await stack.enter_async_context(LlmGateway(settings.llm, answers, clock, live, batches))
    if settings.evaluation.max_usd is not None:
        gateway.require_prices()
    if must_answer:
        await gateway.reach()
    return gateway


async def _open_batches(
    settings: LlmSettings, live: "LlmEndpoint", database: Database, clock: SystemClock, stack: AsyncExitStack
) -> "BatchTier":
    from workers.llm.batches.batch_tier import make_batch_tier

    book = PgBatchBook(database, settings.endpoint)
    return await stack.enter_async_context(make_batch_tier(settings, live, book, PgClaims(database), clock))
