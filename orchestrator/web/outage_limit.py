"""A time limit for requests while the database is down."""

from starlette.types import ASGIApp, Receive, Scope, Send

from orchestrator.store.database import limit_outage_wait

_MAX_WAIT_SECONDS = 2.0


class OutageLimit:
    """Middleware that limits how long a request waits for an unreachable database to two seconds; the response is then
    a 503. Jobs wait much longer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with limit_outage_wait(_MAX_WAIT_SECONDS):
            await self._app(scope, receive, send)
