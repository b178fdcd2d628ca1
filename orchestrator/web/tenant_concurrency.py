"""A concurrency limit per tenant: only a limited number of a tenant's requests are processed at once, and 429 responses
are delayed. Without it, a burst of requests from one tenant would delay all other callers.

A request's tenant is unknown until its key or session has been looked up. That lookup accounts for much of a request's
cost, so the tenants of known keys and sessions are cached."""

import asyncio
import random
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.access.api_keys import hash_key
from orchestrator.access.sessions import hash_token
from orchestrator.problems import HttpProblem
from orchestrator.settings import AccessSettings, ApiSettings
from orchestrator.web.backpressure import count_held, release_slots
from orchestrator.web.cookies import read_session_token
from orchestrator.web.request_log import send_problem

_MAX_CACHED = 10_000
"""Maximum number of cached keys and sessions."""
_MAX_CONCURRENT_LOOKUPS = 4
"""Maximum number of concurrent lookups for keys and sessions that are new to this process."""
_MAX_WAITING_LOOKUPS = 1_000
"""Maximum number of requests waiting for such a lookup."""
_MAX_DELAYED_REFUSALS = 2_000
"""Maximum number of delayed refusals. Further refusals are sent immediately, so that a flood of requests cannot hold an
unlimited number of connections open."""
_DELAY_FACTORS = (0.5, 1.5)
"""Range of a refusal's delay, relative to the mean."""
_TOO_MANY_REQUESTS = 429
_TENANT_CALLBACK = "assayer.tenant_found"
_CONSOLE_PATH, _SIGN_IN_PATH, _CALLBACK_PATH = "/console", "/console/sign-in", "/console/callback"
_KEY_SIGN_IN = b"a key that is typed"
"""Key under which all sign-ins with an API key are counted, because each typed key may be new to this process. Sign-ins
through an identity provider are not counted, because they wait for the provider."""


class TenantConcurrency:
    """Middleware that limits each tenant's concurrent requests. A request that waits for its client or is held open
    takes no slot. Requests with keys or sessions that are new to this process are admitted a few at a time until their
    tenant is known, so that a flood of new or invalid keys has to wait as well. Requests without a key or session cost
    almost nothing and do not wait."""

    def __init__(self, app: ASGIApp, settings: ApiSettings, access: AccessSettings) -> None:
        self._app = app
        self._settings = settings
        self._access = access
        self._tenants: OrderedDict[bytes, str] = OrderedDict()
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(settings.max_requests_per_tenant)
        )
        self._request_counts: Counter[str] = Counter()
        """Number of each tenant's requests that are in progress or waiting."""
        self._lookup_slots = asyncio.Semaphore(_MAX_CONCURRENT_LOOKUPS)
        self._waiting_lookups = 0
        self._delayed_refusals = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = _get_key(scope, self._access)
        if key is None:
            await self._app(scope, receive, send)
            return
        if key in self._tenants:
            self._tenants.move_to_end(key)
            await self._run_for_tenant(self._tenants[key], scope, receive, send)
            return
        if self._waiting_lookups >= _MAX_WAITING_LOOKUPS:
            await send_problem(self._build_too_many_lookups_problem(), scope, receive, send)
            return
        self._waiting_lookups += 1
        try:
            await self._lookup_slots.acquire()
        finally:
            self._waiting_lookups -= 1
        if key in self._tenants:  # another request has looked it up in the meantime
            self._lookup_slots.release()
            await self._run_for_tenant(self._tenants[key], scope, receive, send)
            return
        await self._run_for_unknown_caller(key, scope, receive, send)

    async def _run_for_tenant(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        if self._request_counts[tenant] >= self._settings.max_waiting_per_tenant:
            await self._delay_refusal()
            await send_problem(self._build_too_many_requests_problem(), scope, receive, send)
            return
        with self._count_request(tenant):
            slot = _TenantSlot(self._slots[tenant])
            await slot.acquire()
            await self._run_in_slot(slot, scope, receive, send)

    async def _run_for_unknown_caller(self, key: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """Process a request in a lookup slot until its tenant is known or the response has been sent."""
        slot = _TenantSlot(self._lookup_slots, is_held=True)
        with ExitStack() as exit_stack:

            async def assign_tenant(tenant: str) -> None:
                self._cache_tenant(key, tenant)
                exit_stack.enter_context(self._count_request(tenant))
                await slot.move(self._slots[tenant])

            scope[_TENANT_CALLBACK] = assign_tenant
            await self._run_in_slot(slot, scope, receive, send)

    async def _run_in_slot(self, slot: "_TenantSlot", scope: Scope, receive: Receive, send: Send) -> None:
        scope["assayer.slots"] = [slot.end]
        complete = False

        async def receive_without_slot() -> Message:
            nonlocal complete
            if complete:
                return await receive()
            slot.release()
            message = await receive()
            complete = not message.get("more_body", False)
            await slot.acquire()
            return message

        async def send_with_delay(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == _TOO_MANY_REQUESTS:
                slot.end()
                release_slots(scope)
                await self._delay_refusal()
            await send(message)

        try:
            await self._app(scope, receive_without_slot, send_with_delay)
        finally:
            slot.end()

    async def _delay_refusal(self) -> None:
        """Delay a refusal, to slow down clients that retry immediately. Delays differ, so that the clients of a flood
        do not all retry at the same moment."""
        if self._delayed_refusals >= _MAX_DELAYED_REFUSALS:
            return
        self._delayed_refusals += 1
        try:
            await asyncio.sleep(self._settings.refusal_seconds * random.uniform(*_DELAY_FACTORS))  # noqa: S311
        finally:
            self._delayed_refusals -= 1

    @contextmanager
    def _count_request(self, tenant: str) -> Iterator[None]:
        try:
            with count_held(self._request_counts, tenant):
                yield
        finally:
            if tenant not in self._request_counts:
                self._slots.pop(tenant, None)

    def _cache_tenant(self, key: bytes, tenant: str) -> None:
        self._tenants[key] = tenant
        if len(self._tenants) > _MAX_CACHED:
            self._tenants.popitem(last=False)

    def _build_too_many_requests_problem(self) -> HttpProblem:
        return HttpProblem(
            "rate-limited",
            f"This tenant already has {self._settings.max_waiting_per_tenant} requests in progress on this server, "
            "which is the limit. Try again later.",
            headers={"Connection": "close"},
        )

    def _build_too_many_lookups_problem(self) -> HttpProblem:
        return HttpProblem(
            "busy",
            f"{_MAX_WAITING_LOOKUPS:,} requests with keys or sessions new to this server are already waiting to be "
            "checked. Try again later.",
            headers={"Connection": "close"},
        )


async def record_tenant(scope: Scope, tenant: str) -> None:
    """Record the request's tenant. From then on, the request takes one of that tenant's slots."""
    if (assign_tenant := scope.pop(_TENANT_CALLBACK, None)) is not None:
        await assign_tenant(tenant)


class _TenantSlot:
    """A request's concurrency slot. After `end`, it cannot be acquired again."""

    def __init__(self, slots: asyncio.Semaphore, is_held: bool = False) -> None:
        self._slots = slots
        self._is_held = is_held
        self._ended = False

    async def acquire(self) -> None:
        if self._ended or self._is_held:
            return
        await self._slots.acquire()
        self._is_held = True
        if self._ended:
            self.release()

    async def move(self, slots: asyncio.Semaphore) -> None:
        """Release the slot, and wait for one in another semaphore."""
        self.release()
        self._slots = slots
        await self.acquire()

    def release(self) -> None:
        if self._is_held:
            self._is_held = False
            self._slots.release()

    def end(self) -> None:
        self._ended = True
        self.release()


def _get_key(scope: Scope, access: AccessSettings) -> bytes | None:
    """Return the hash of the request's key or session. None if it has neither, or needs no slot."""
    if scope["type"] != "http" or scope["path"] == _CALLBACK_PATH:
        return None
    if scope["path"] == _SIGN_IN_PATH and scope["method"] == "POST":
        return _KEY_SIGN_IN
    request = Request(scope)
    header = request.headers.get("authorization")
    if header is not None and not scope["path"].startswith(_CONSOLE_PATH):
        return hash_key(header.partition(" ")[2].strip())
    token = read_session_token(request, access)
    return None if token is None else hash_token(token)
