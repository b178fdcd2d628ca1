"""One send to the endpoint and what came of it. No retries, no opinion about the answer."""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from assayer.models import Fault, FaultKind
from assayer.ports import Clock
from workers.llm.completion import Completion, parse_completion
from workers.llm.failures import TransientFailure, refusal_of, status_failure, unfinished_answer
from workers.llm.settings import LlmSettings

__all__ = ["Endpoint"]

KEEP_ALIVE_SECONDS = 4.0
"""Less than the 5 s after which common servers close idle connections, so that none is closed under a send."""
REACH_SECONDS = 15.0
SUSPECT_AGE_SECONDS = 60.0
"""A connection failure replaces connections older than this: the pool itself may have died."""


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


class Endpoint:
    """Belongs to one event loop."""

    def __init__(self, settings: LlmSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._secret = settings.api_key.get_secret_value()
        self._connections: _Connections | None = None
        parts = urlsplit(settings.base_url)
        self.address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        """The base URL as it may be shown."""

    async def send(self, body: dict[str, Any], deadline_seconds: float | None = None) -> Completion:
        """Raises TransientFailure or PermanentFailure."""
        seconds = deadline_seconds or self._settings.request_timeout_seconds
        connections, replaced = self._current()
        connections.users += 1
        try:
            await self._retire(replaced)
            async with asyncio.timeout(seconds):
                response = await connections.client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            unfinished = unfinished_answer(error.body)
            if unfinished is not None:
                return Completion(unfinished, "", "stop", None, None)
            refusal = refusal_of(error.body)
            said = refusal._replace(message=self._without_key(refusal.message))
            raise status_failure(error.status_code, error.response.headers, said, self._clock.now()) from None
        except (TimeoutError, openai.APIConnectionError) as error:
            raise self._unreached(error, seconds, connections) from None
        finally:
            connections.users -= 1
            await self._retire(connections)
        try:
            return parse_completion(response.content)
        except ValueError as error:
            raise TransientFailure(Fault(kind="server_error", detail=str(error))) from None

    async def reach(self) -> None:
        """Raises TransientFailure when no server answers. Whatever a server answers is good enough: not all list
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

    def _unreached(self, error: Exception, seconds: float, connections: _Connections) -> TransientFailure:
        causes = list(_causes(error))
        # aiohttp's connection errors reach us as httpx2 timeouts; only a TimeoutError in the chain is one.
        if any(isinstance(cause, TimeoutError) for cause in causes):
            kind: FaultKind = "timeout"
            detail = f"no answer within {seconds:g} s"
        else:
            kind, detail = "connection", f"no connection: {type(causes[-1]).__name__}"
            if self._clock.monotonic() - connections.born > SUSPECT_AGE_SECONDS:
                connections.born = float("-inf")
        return TransientFailure(Fault(kind=kind, detail=detail), overloaded=kind == "timeout")

    def _without_key(self, text: str) -> str:
        return text.replace(self._secret, "…") if self._secret else text


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
