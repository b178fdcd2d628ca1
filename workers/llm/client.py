"""The client of one OpenAI-compatible endpoint: its connections, the dialect of each model, how many requests it takes
at once.

It knows nothing of runs' budgets, of answers' meaning, or of retries: those stay with the gateway, which may be in
another process.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from assayer.errors import LlmRejected, LlmUnavailable
from assayer.models import Fault, FaultKind
from assayer.ports import Clock
from workers.concurrency.priority_gate import PriorityGate
from workers.llm.chat_completion import (
    ChatRequest,
    ChatResult,
    Completion,
    Dialect,
    Requester,
    initial_dialect,
    parse_completion,
)
from workers.llm.errors import (
    PermanentLlmFailure,
    SendStats,
    TransientLlmFailure,
    explain_rejection,
    failure_from_status,
    parse_error_body,
    rejected_generation,
)
from workers.llm.limiter import AdaptiveLimit, AdaptiveSlots
from workers.llm.metrics import ASKED, IN_FLIGHT, LIMIT
from workers.llm.settings import LlmSettings, StructuredSetting

__all__ = ["DialectAdapter", "EndpointClient", "EndpointTransport", "probe"]

KEEP_ALIVE_SECONDS = 4.0
"""Less than the 5 s after which common servers close idle connections, so that none is closed under a send."""
REACH_SECONDS = 15.0
SUSPECT_AGE_SECONDS = 60.0
"""A connection failure replaces connections older than this: the pool itself may have died."""
PROBE_SECONDS = 20.0
_PROBE_TOKENS = 16
_URGENT, _OTHERS = 0, 1
"""Priorities at the gate."""

_LOG = logging.getLogger(__name__)


class _Connections:
    """One client, and the sends that still use it."""

    def __init__(self, settings: LlmSettings, born: float) -> None:
        self.born = born
        self.users = 0
        timeout = httpx2.Timeout(settings.request_timeout_seconds, connect=settings.connect_timeout_seconds)
        limits = httpx2.Limits(max_connections=settings.concurrency.max, keepalive_expiry=KEEP_ALIVE_SECONDS)
        self.client = openai.AsyncOpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key.get_secret_value() or "none",
            max_retries=0,
            timeout=timeout,
            http_client=openai.DefaultAioHttpClient(timeout=timeout, limits=limits),
        )


class EndpointClient:
    """One send to the endpoint and what came of it: no retries, no judgement of the answer. Belongs to one loop."""

    def __init__(self, settings: LlmSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._secret = settings.api_key.get_secret_value()
        self._connections: _Connections | None = None
        parts = urlsplit(settings.base_url)
        self.address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        """The base URL as it may be shown."""

    async def send(self, body: dict[str, Any], deadline_seconds: float | None = None) -> Completion:
        """Raises TransientLlmFailure or PermanentLlmFailure."""
        seconds = deadline_seconds or self._settings.request_timeout_seconds
        connections, replaced = self._current()
        connections.users += 1
        try:
            await self._retire(replaced)
            async with asyncio.timeout(seconds):
                response = await connections.client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            unfinished = rejected_generation(error.body)
            if unfinished is not None:
                return Completion(unfinished, "", "stop", None, None)
            parsed = parse_error_body(error.body)
            error_body = parsed._replace(message=self._without_key(parsed.message))
            raise failure_from_status(
                error.status_code, error.response.headers, error_body, self._clock.now()
            ) from None
        except (TimeoutError, openai.APIConnectionError) as error:
            raise self._unreached(error, seconds, connections) from None
        finally:
            connections.users -= 1
            await self._retire(connections)
        try:
            return parse_completion(response.content)
        except ValueError as error:
            raise TransientLlmFailure(Fault(kind="server_error", detail=str(error))) from None

    async def reach(self) -> None:
        """Raises TransientLlmFailure when no server answers. Whatever a server answers is good enough: not all list
        their models, and the first question tells more about key and model."""
        connections, replaced = self._current()
        connections.users += 1
        try:
            await self._retire(replaced)
            async with asyncio.timeout(REACH_SECONDS):
                await connections.client.get("/models", cast_to=httpx2.Response)
        except openai.APIStatusError:
            pass
        except (TimeoutError, openai.APIConnectionError) as error:
            raise self._unreached(error, REACH_SECONDS, connections) from None
        finally:
            connections.users -= 1
            await self._retire(connections)

    async def aclose(self) -> None:
        """Sends still in flight fail."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.client.close()

    def _current(self) -> tuple[_Connections, _Connections | None]:
        """The connections to use, and those that they replaced just now."""
        now = self._clock.monotonic()
        old = self._connections
        if old is not None and now - old.born <= self._settings.connection_max_age_seconds:
            return old, None
        self._connections = _Connections(self._settings, now)
        return self._connections, old

    async def _retire(self, connections: _Connections | None) -> None:
        """Closes connections that have been replaced, once nobody uses them."""
        if connections is not None and connections is not self._connections and not connections.users:
            await connections.client.close()

    def _unreached(self, error: Exception, seconds: float, connections: _Connections) -> TransientLlmFailure:
        causes = list(_causes(error))
        # aiohttp's connection errors reach us as httpx2 timeouts; only a TimeoutError in the chain is one.
        if any(isinstance(cause, TimeoutError) for cause in causes):
            kind: FaultKind = "timeout"
            detail = f"no answer within {seconds:g} s"
        else:
            kind, detail = "connection", f"no connection: {type(causes[-1]).__name__}"
            if self._clock.monotonic() - connections.born > SUSPECT_AGE_SECONDS:
                connections.born = float("-inf")
        return TransientLlmFailure(Fault(kind=kind, detail=detail), overloaded=kind == "timeout")

    def _without_key(self, text: str) -> str:
        return text.replace(self._secret, "…") if self._secret else text


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


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

    async def send(
        self,
        model: str,
        body: Callable[[Dialect], dict[str, Any]],
        on_send: Callable[[], None],
        deadline_seconds: float | None = None,
    ) -> Completion:
        """Calls `on_send` before every request. Raises TransientLlmFailure or PermanentLlmFailure."""
        while True:
            dialect = self._dialects.get(model, self._first)
            on_send()
            try:
                completion = await self._endpoint.send(body(dialect), deadline_seconds)
            except PermanentLlmFailure as failure:
                other = dialect.adapted(failure)
                if other is None:
                    raise (failure.of_question() if model in self._answering else failure) from None
                # Other calls in flight may have learnt the same, or more, in the meantime.
                if self._dialects.get(model, self._first) == dialect:
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

    def __init__(self, settings: LlmSettings, clock: Clock) -> None:
        self._clock = clock
        self._longest_wait = settings.retry_after_max_seconds
        self._endpoint = EndpointClient(settings, clock)
        self._dialects = DialectAdapter(self._endpoint, settings.structured)
        most = settings.concurrency.max
        limit = AdaptiveLimit(min(settings.concurrency.start, most), most)
        self.slots = AdaptiveSlots(limit, clock.monotonic)
        self._gate = PriorityGate(self.slots)

    @property
    def address(self) -> str:
        return self._dialects.address

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        sends = _SendTimer(self._clock)
        with ASKED.track_inprogress():
            try:
                return await self._admitted(request, requester, sends)
            finally:
                LIMIT.set(self.slots.limit.value)

    async def _admitted(self, request: ChatRequest, requester: Requester, sends: _SendTimer) -> ChatResult:
        async with self._gate.slot(_URGENT if requester.urgent else _OTHERS) as call:
            try:
                with IN_FLIGHT.track_inprogress():
                    completion = await self._dialects.send(request.model, request.body, sends.on_send)
            except TransientLlmFailure as failure:
                failure.stats = sends.stats()
                if failure.overloaded:
                    # A wait that is too long to be waited for holds nobody else back either.
                    bearable = (failure.retry_after or 0.0) <= self._longest_wait
                    call.turned_away(failure.retry_after if bearable else None)
                raise
            except PermanentLlmFailure as failure:
                failure.stats = sends.stats()
                raise
            except asyncio.CancelledError:
                # Told to the caller, who pays for what the endpoint has read by now.
                raise asyncio.CancelledError(sends.stats()) from None
            read, written = request.usage(completion)
            kind = (request.model, request.task, read.bit_length(), written.bit_length())
            call.answered(kind, self._clock.monotonic() - sends.last)
        return ChatResult(completion, sends.stats())

    async def reach(self) -> None:
        await self._endpoint.reach()

    async def probe(self, model: str) -> None:
        await probe(self._dialects, model)

    async def aclose(self) -> None:
        await self._dialects.aclose()


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
