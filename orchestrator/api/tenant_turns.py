"""Turns: so many requests of one tenant are worked on at once, and what is refused is refused slowly.

Before a request's key is checked nothing is known of its tenant, and checking it is a good part of its cost: whose key
it is, is remembered from the time before. Without this, everybody waits behind a crowd of one tenant's requests.
"""

import asyncio
from collections import Counter, OrderedDict, defaultdict

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.api.backpressure import release_slot
from orchestrator.api.problems import HttpProblem
from orchestrator.api.request_log import request_record, send_problem
from orchestrator.jobs.api_keys import hash_key
from orchestrator.settings import ApiSettings

__all__ = ["TenantTurns"]

_MOST_REMEMBERED = 10_000
"""Keys."""
_TOO_MANY = 429


class TenantTurns:
    """For requests whose key has been seen before. A request that waits for its client, or is held open, takes no
    turn."""

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self._app = app
        self._settings = settings
        self._tenants: OrderedDict[bytes, str] = OrderedDict()
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(settings.max_requests_per_tenant)
        )
        self._present: Counter[str] = Counter()
        """Requests of a tenant that work, wait, or are about to be refused."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = _key_of(scope)
        if key is None:
            await self._app(scope, receive, send)
            return
        tenant = self._tenants.get(key)
        if tenant is None:
            await self._app(scope, receive, send)
            self._remember(key, request_record(scope).tenant)
            return
        self._tenants.move_to_end(key)
        if self._present[tenant] >= self._settings.max_waiting_per_tenant:
            await send_problem(self._too_many(), scope, receive, send)
            return
        self._present[tenant] += 1
        try:
            await self._in_turn(tenant, scope, receive, send)
        finally:
            self._present[tenant] -= 1
            if not self._present[tenant]:
                del self._present[tenant], self._turns[tenant]

    async def _in_turn(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        turn = _Turn(self._turns[tenant])
        scope["assayer.turn"] = turn
        await turn.take()
        whole = False

        async def waiting_receive() -> Message:
            nonlocal whole
            if whole:
                return await receive()
            turn.give()
            message = await receive()
            whole = not message.get("more_body", False)
            await turn.take()
            return message

        async def slow_refusal(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == _TOO_MANY:
                turn.end()
                release_slot(scope)
                await asyncio.sleep(self._settings.refusal_seconds)
            await send(message)

        try:
            await self._app(scope, waiting_receive, slow_refusal)
        finally:
            turn.end()

    def _remember(self, key: bytes, tenant: str | None) -> None:
        if tenant is not None:
            self._tenants[key] = tenant
            if len(self._tenants) > _MOST_REMEMBERED:
                self._tenants.popitem(last=False)

    def _too_many(self) -> HttpProblem:
        return HttpProblem(
            "rate-limited",
            f"{self._settings.max_waiting_per_tenant} requests of this tenant are in this process, which is the limit. "
            "Send this one a little later.",
            headers={"Connection": "close"},
            retry_after=self._settings.retry_seconds,
        )


class _Turn:
    """Of one request; after its end it is never taken again."""

    def __init__(self, turns: asyncio.Semaphore) -> None:
        self._turns = turns
        self._held = self._ended = False

    async def take(self) -> None:
        if self._ended or self._held:
            return
        await self._turns.acquire()
        self._held = True
        if self._ended:
            self.give()

    def give(self) -> None:
        if self._held:
            self._held = False
            self._turns.release()

    def end(self) -> None:
        self._ended = True
        self.give()


def _key_of(scope: Scope) -> bytes | None:
    """Its hash; None for what carries none, or no place among requests."""
    if scope["type"] != "http":
        return None
    given = Headers(scope=scope).get("authorization", "")
    return hash_key(given.partition(" ")[2].strip())
