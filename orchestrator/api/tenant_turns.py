"""Turns: so many requests of one tenant are worked on at once, and what is refused is refused slowly.

Before a request's key, or the session in its cookie, is checked nothing is known of its tenant, and checking it is a
good part of its cost: whose it is, is remembered from the time before. Without this, everybody waits behind a crowd of
one tenant's requests.
"""

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.access.cookies import session_token
from orchestrator.access.sessions import hash_token
from orchestrator.api.backpressure import release_slot
from orchestrator.api.problems import HttpProblem
from orchestrator.api.request_log import send_problem
from orchestrator.jobs.api_keys import hash_key
from orchestrator.settings import AccessSettings, ApiSettings

__all__ = ["TenantTurns", "tenant_is_known"]

_MOST_REMEMBERED = 10_000
"""Keys and sessions."""
_STRANGERS = 4
"""Keys and sessions that are new here and are looked up at once."""
_MOST_STRANGERS = 1_000
"""Requests that wait for that."""
_MOST_REFUSALS = 2_000
"""That wait to be sent: what is refused beyond is told at once, so that connections are all that a crowd can fill."""
_TOO_MANY = 429
_IS_OF = "assayer.turn_is_of"
_PAGES, _SIGN_IN, _CALLBACK = "/console", "/console/sign-in", "/console/callback"
_TYPED = b"a key that is typed"
"""Whoever signs in is new here every time. Whoever comes back from an identity provider waits for that."""


class TenantTurns:
    """A request that waits for its client, or is held open, takes no turn. Requests with keys or sessions that were
    never seen here are led in a few at a time, until it is known whose they are: a crowd that comes at once, with keys
    just made or made up, waits like any other. What carries neither costs next to nothing, and does not wait."""

    def __init__(self, app: ASGIApp, settings: ApiSettings, access: AccessSettings) -> None:
        self._app = app
        self._settings = settings
        self._access = access
        self._tenants: OrderedDict[bytes, str] = OrderedDict()
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(settings.max_requests_per_tenant)
        )
        self._present: Counter[str] = Counter()
        """Requests of a tenant that work, wait, or are about to be refused."""
        self._entrance = asyncio.Semaphore(_STRANGERS)
        self._strangers = 0
        self._refusals = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = _key_of(scope, self._access)
        if key is None:
            await self._app(scope, receive, send)
            return
        if key in self._tenants:
            self._tenants.move_to_end(key)
            await self._of_tenant(self._tenants[key], scope, receive, send)
            return
        if self._strangers >= _MOST_STRANGERS:
            await send_problem(self._too_many_strangers(), scope, receive, send)
            return
        self._strangers += 1
        try:
            await self._entrance.acquire()
        finally:
            self._strangers -= 1
        if key in self._tenants:  # by another request, meanwhile
            self._entrance.release()
            await self._of_tenant(self._tenants[key], scope, receive, send)
            return
        await self._of_stranger(key, scope, receive, send)

    async def _of_tenant(self, tenant: str, scope: Scope, receive: Receive, send: Send) -> None:
        if self._present[tenant] >= self._settings.max_waiting_per_tenant:
            await self._let_wait()
            await send_problem(self._too_many(), scope, receive, send)
            return
        with self._counted(tenant):
            turn = _Turn(self._turns[tenant])
            await turn.take()
            await self._in_turn(turn, scope, receive, send)

    async def _of_stranger(self, key: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """It has a place at the entrance, until it is known whose it is or has been answered."""
        turn = _Turn(self._entrance, held=True)
        with ExitStack() as known:

            async def is_of(tenant: str) -> None:
                self._remember(key, tenant)
                known.enter_context(self._counted(tenant))
                await turn.move(self._turns[tenant])

            scope[_IS_OF] = is_of
            await self._in_turn(turn, scope, receive, send)

    async def _in_turn(self, turn: "_Turn", scope: Scope, receive: Receive, send: Send) -> None:
        scope["assayer.turn"] = turn
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
                await self._let_wait()
            await send(message)

        try:
            await self._app(scope, waiting_receive, slow_refusal)
        finally:
            turn.end()

    async def _let_wait(self) -> None:
        """Before a refusal: whoever asks again as soon as it is answered asks less often."""
        if self._refusals >= _MOST_REFUSALS:
            return
        self._refusals += 1
        try:
            await asyncio.sleep(self._settings.refusal_seconds)
        finally:
            self._refusals -= 1

    @contextmanager
    def _counted(self, tenant: str) -> Iterator[None]:
        self._present[tenant] += 1
        try:
            yield
        finally:
            self._present[tenant] -= 1
            if not self._present[tenant]:
                del self._present[tenant]
                self._turns.pop(tenant, None)

    def _remember(self, key: bytes, tenant: str) -> None:
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

    def _too_many_strangers(self) -> HttpProblem:
        return HttpProblem(
            "busy",
            f"{_MOST_STRANGERS:,} requests with keys or sessions that are new here wait to be let in. "
            "Send this one a little later.",
            headers={"Connection": "close"},
            retry_after=self._settings.retry_seconds,
        )


async def tenant_is_known(scope: Scope, tenant: str) -> None:
    """Whose request it is: from now on it waits among that tenant's."""
    if (is_of := scope.pop(_IS_OF, None)) is not None:
        await is_of(tenant)


class _Turn:
    """Of one request; after its end it is never taken again."""

    def __init__(self, turns: asyncio.Semaphore, held: bool = False) -> None:
        self._turns = turns
        self._held = held
        self._ended = False

    async def take(self) -> None:
        if self._ended or self._held:
            return
        await self._turns.acquire()
        self._held = True
        if self._ended:
            self.give()

    async def move(self, turns: asyncio.Semaphore) -> None:
        """Among others, where it waits anew."""
        self.give()
        self._turns = turns
        await self.take()

    def give(self) -> None:
        if self._held:
            self._held = False
            self._turns.release()

    def end(self) -> None:
        self._ended = True
        self.give()


def _key_of(scope: Scope, access: AccessSettings) -> bytes | None:
    """Hash of the key, or of the session where that is what counts; None for what carries none, or no place among
    requests."""
    if scope["type"] != "http" or scope["path"] == _CALLBACK:
        return None
    if scope["path"] == _SIGN_IN and scope["method"] == "POST":
        return _TYPED
    request = Request(scope)
    given = request.headers.get("authorization")
    if given is not None and not scope["path"].startswith(_PAGES):
        return hash_key(given.partition(" ")[2].strip())
    token = session_token(request, access)
    return None if token is None else hash_token(token)
