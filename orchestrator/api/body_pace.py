"""How slowly a body may come, and how many of a tenant may be coming at once.

A request holds one of the process's places while its body comes in: a few hundred connections that send a byte now
and then would turn everybody else away.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.api.backpressure import announces_body
from orchestrator.api.problems import HttpProblem
from orchestrator.settings import ApiSettings

__all__ = ["BodyPace"]


class BodyPace:
    """Ends a request whose body is too slow (408), or whose tenant has too many bodies on their way (429). Only time
    spent waiting for the client counts. For requests whose caller is known."""

    def __init__(self, app: ASGIApp, settings: ApiSettings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._settings = settings
        self._monotonic = monotonic
        self._coming: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = scope.get("assayer.caller")
        if caller is None or not announces_body(scope):
            await self._app(scope, receive, send)
            return
        body = _Body(self, caller.tenant, receive)
        try:
            await self._app(scope, body.receive, send)
        finally:
            body.end()

    def begin(self, tenant: str) -> None:
        """Raises HttpProblem."""
        if self._coming[tenant] >= self._settings.max_bodies_per_tenant:
            raise HttpProblem(
                "rate-limited",
                f"{self._coming[tenant]} bodies of this tenant's requests are on their way to this process, which is "
                "the limit. Send this one a little later.",
                headers={"Connection": "close"},
                retry_after=self._settings.retry_seconds,
            )
        self._coming[tenant] += 1

    def end(self, tenant: str) -> None:
        self._coming[tenant] -= 1
        if not self._coming[tenant]:
            del self._coming[tenant]

    async def next(self, receive: Receive, waited: float, taken: int) -> tuple[Message, float]:
        """A message, and for how long it was waited. Raises HttpProblem when the body falls behind."""
        allowed = self._settings.body_seconds + taken / self._settings.least_body_rate
        began = self._monotonic()
        try:
            async with asyncio.timeout(max(0.0, allowed - waited)):
                return await receive(), self._monotonic() - began
        except TimeoutError:
            raise HttpProblem(
                "body-too-slow",
                f"After {allowed:,.0f} s {taken:,} bytes of the body had come. After the first "
                f"{self._settings.body_seconds:g} s at least {self._settings.least_body_rate:,} a second are needed.",
                headers={"Connection": "close"},
            ) from None


class _Body:
    """Of one request; counted from the first time that it is asked for until it is whole."""

    def __init__(self, pace: BodyPace, tenant: str, receive: Receive) -> None:
        self._pace = pace
        self._tenant = tenant
        self._receive = receive
        self._counted = self._whole = False
        self._waited = 0.0
        self._taken = 0

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()
        if not self._counted:
            self._pace.begin(self._tenant)
            self._counted = True
        message, seconds = await self._pace.next(self._receive, self._waited, self._taken)
        self._waited += seconds
        self._taken += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._whole:
            self.end()
        return message

    def end(self) -> None:
        if self._counted:
            self._counted = False
            self._pace.end(self._tenant)
