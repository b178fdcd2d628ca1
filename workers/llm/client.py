"""What is asked of one OpenAI-compatible endpoint: in the dialect of each model, and only so much at once.

It knows nothing of runs' budgets, of answers' meaning, or of retries: those stay with the gateway, which may be in
another process.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from assayer.errors import LlmRejected, LlmUnavailable
from assayer.ports import Clock
from assayer.run.context_variables import Urgency
from workers.llm.admission import CallAdmission, OwnAdmission
from workers.llm.chat_completion import (
    ChatRequest,
    ChatResult,
    Completion,
    Dialect,
    Requester,
    initial_dialect,
)
from workers.llm.endpoint import EndpointClient
from workers.llm.errors import (
    PermanentLlmFailure,
    SendStats,
    TransientLlmFailure,
    explain_rejection,
)
from workers.llm.limiter import AdaptiveLimit
from workers.llm.metrics import ASKED, IN_FLIGHT, LIMIT
from workers.llm.settings import LlmSettings, StructuredSetting

__all__ = ["DialectAdapter", "EndpointTransport", "own_admission", "probe"]

PROBE_SECONDS = 20.0
_PROBE_TOKENS = 16

_LOG = logging.getLogger(__name__)


class DialectAdapter:
    """Asks each model in the form it understands, and remembers what it learnt from refusals."""

    def __init__(self, endpoint: EndpointClient, structured: StructuredSetting) -> None:
        self._endpoint = endpoint
        self._first = initial_dialect(structured)
        self._dialects: dict[str, Dialect] = {}
        self._answering: set[str] = set()
        """Models that have answered."""

    @property
    def address(self) -> str:
        return self._endpoint.address

    def dialect(self, model: str) -> Dialect:
        """In which the model is asked now."""
        return self._dialects.get(model, self._first)

    async def send(
        self,
        model: str,
        body: Callable[[Dialect], dict[str, Any]],
        on_send: Callable[[], None],
        deadline_seconds: float | None = None,
    ) -> Completion:
        """Calls `on_send` before every request. Raises TransientLlmFailure or PermanentLlmFailure."""
        while True:
            dialect = self.dialect(model)
            on_send()
            try:
                completion = await self._endpoint.send(body(dialect), deadline_seconds)
            except PermanentLlmFailure as failure:
                other = dialect.adapted(failure)
                if other is None:
                    raise (failure.of_question() if model in self._answering else failure) from None
                # Other calls in flight may have learnt the same, or more, in the meantime.
                if self.dialect(model) == dialect:
                    self._dialects[model] = other
                    _LOG.info("model %s: %s; from now on asked as %s", model, failure, other)
            else:
                self._answering.add(model)
                return completion

    async def aclose(self) -> None:
        await self._endpoint.aclose()


class _SendTimer:
    """When one request was sent."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.count = 0
        self.first = self.last = 0.0

    def on_send(self) -> None:
        self.last = self._clock.monotonic()
        if not self.count:
            self.first = self.last
        self.count += 1

    def stats(self) -> SendStats:
        return SendStats(self.count, self._clock.monotonic() - self.first) if self.count else SendStats()


class EndpointTransport:
    """Implements `workers.llm.chat_completion.LlmTransport`. Belongs to one event loop; close it there."""

    def __init__(self, settings: LlmSettings, clock: Clock, admission: CallAdmission | None = None) -> None:
        """Without an `admission` the limit is this process's own. It closes the one it has."""
        self._clock = clock
        self._longest_wait = settings.retry_after_max_seconds
        self._endpoint = EndpointClient(settings, clock)
        self._dialects = DialectAdapter(self._endpoint, settings.structured)
        self._admission = admission or own_admission(settings, clock)

    @property
    def address(self) -> str:
        return self._dialects.address

    @property
    def endpoint(self) -> EndpointClient:
        """For what is asked of it beside chat completions. It is closed with this transport."""
        return self._endpoint

    def dialect(self, model: str) -> Dialect:
        """In which the model is asked now."""
        return self._dialects.dialect(model)

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        sends = _SendTimer(self._clock)
        with ASKED.track_inprogress():
            try:
                return await self._admitted(request, requester, sends)
            finally:
                LIMIT.set(self._admission.most)

    async def _admitted(self, request: ChatRequest, requester: Requester, sends: _SendTimer) -> ChatResult:
        async with self._admission.admitted(requester.urgency or Urgency()) as call:
            try:
                with IN_FLIGHT.track_inprogress():
                    completion = await self._dialects.send(request.model, request.body, sends.on_send)
            except TransientLlmFailure as failure:
                failure.stats = sends.stats()
                if failure.overloaded:
                    # A wait that is too long to be waited for holds nobody else back either.
                    bearable = (failure.retry_after or 0.0) <= self._longest_wait
                    read = 0 if failure.read is None else sum(request.usage_without_answer(failure.read))
                    call.turned_away(failure.retry_after if bearable else None, read)
                raise
            except PermanentLlmFailure as failure:
                failure.stats = sends.stats()
                raise
            except asyncio.CancelledError:
                # Told to the caller, who pays for what the endpoint has read by now.
                raise asyncio.CancelledError(sends.stats()) from None
            read, written = request.usage(completion)
            kind = (request.model, request.task, read.bit_length(), written.bit_length())
            call.answered(kind, self._clock.monotonic() - sends.last, read + written)
        return ChatResult(completion, sends.stats())

    async def reach(self) -> None:
        await self._endpoint.reach()

    async def probe(self, model: str) -> None:
        await probe(self._dialects, model)

    async def aclose(self) -> None:
        await self._admission.aclose()
        await self._dialects.aclose()


def own_admission(settings: LlmSettings, clock: Clock) -> OwnAdmission:
    """For a process that shares the endpoint with no other."""
    most = settings.concurrency.max
    return OwnAdmission(AdaptiveLimit(min(settings.concurrency.start, most), most), clock.monotonic)


async def probe(endpoint: DialectAdapter, model: str) -> None:
    """One tiny request, no retries. Raises LlmRejected (wrong key, unknown model, …) or LlmUnavailable."""

    def body(dialect: Dialect) -> dict[str, Any]:
        message = {"role": "user", "content": "Answer with the single word: yes"}
        return {"model": model, "messages": [message], dialect.tokens_field: _PROBE_TOKENS}

    try:
        await endpoint.send(model, body, lambda: None, PROBE_SECONDS)
    except PermanentLlmFailure as failure:
        raise LlmRejected(*explain_rejection(failure, endpoint.address, model)) from None
    except TransientLlmFailure as failure:
        if failure.fault.kind in {"connection", "timeout"}:
            raise LlmUnavailable(
                f"The LLM endpoint {endpoint.address} is down: {failure}.",
                "Check that it runs and that ASSAYER_LLM__BASE_URL is right.",
            ) from None
        raise LlmUnavailable(
            f"The LLM endpoint {endpoint.address} is there but does not answer model {model!r}: {failure}.",
            "Try again later.",
        ) from None
