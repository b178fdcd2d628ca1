"""The pool for calls to the LLM: one process (or a few) through which all evaluators ask the endpoint."""

from assayer.errors import ConfigurationError
from assayer.models import Fault
from assayer.run.context_variables import log_context
from cluster.clock import SystemClock
from cluster.serving.pool_client import PoolClient, PoolFull, ReplicaLost
from cluster.serving.replica import Replica, ReplicaConfig
from workers.llm import LlmSettings
from workers.llm.chat_completion import ChatRequest, ChatResult, Requester
from workers.llm.errors import SendStats, TransientLlmFailure
from workers.llm.shared_requests import CoalescingTransport

__all__ = ["LlmReplica", "PooledLlmTransport", "share_of_limits"]


class LlmReplica(Replica):
    def __init__(self, config: ReplicaConfig) -> None:
        settings = self.begin(config)
        if settings.llm is None:
            raise ConfigurationError("There is no LLM to speak to.", "Set ASSAYER_LLM__MODEL.")
        # The SDK takes half a second to import: only this process waits for it.
        from workers.llm.client import EndpointTransport

        clock = SystemClock()
        self._transport = CoalescingTransport(
            EndpointTransport(share_of_limits(settings.llm, settings.serving.llm.replicas), clock), clock
        )

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        with log_context(run=requester.run):
            return await self._transport.complete(request, requester)

    async def reach(self) -> None:
        await self._transport.reach()

    async def probe(self, model: str) -> None:
        await self._transport.probe(model)

    async def __del__(self) -> None:
        await self._transport.aclose()


class PooledLlmTransport:
    """Implements workers.llm.chat_completion.LlmTransport."""

    def __init__(self, pool: PoolClient[LlmReplica], address: str) -> None:
        self._pool = pool
        self.address = address

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        """Not tried again here: whoever asks has a policy for failures that pass."""
        try:
            return await self._pool.once(LlmReplica.complete, request, requester)
        except PoolFull as error:
            raise TransientLlmFailure(Fault(kind="rate_limited", detail=str(error)), overloaded=True) from None
        except ReplicaLost as error:
            failure = TransientLlmFailure(Fault(kind="connection", detail=str(error)))
            failure.stats = SendStats(1)  # it may have been sent, and that must not be hidden
            raise failure from None

    async def reach(self) -> None:
        await self._pool.ask(LlmReplica.reach)

    async def probe(self, model: str) -> None:
        await self._pool.ask(LlmReplica.probe, model)

    async def aclose(self) -> None:
        """The pool belongs to all."""


def share_of_limits(settings: LlmSettings, replicas: int) -> LlmSettings:
    """Of the endpoint's limit for one of so many processes: one key is one limit, whoever asks."""
    limits = settings.concurrency
    parts = {"start": max(1, limits.start // replicas), "max": max(1, limits.max // replicas)}
    return settings.model_copy(update={"concurrency": limits.model_copy(update=parts)})
