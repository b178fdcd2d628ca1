"""Time limit for requests while the database is down."""

from starlette.types import ASGIApp, Receive, Scope, Send

from orchestrator.store.database import limit_outage_wait

_SECONDS = 2.0


class OutageLimit:
    """Middleware that makes a request give up on an unreachable database after two seconds; the response is then a 503.
    Jobs wait for the database much longer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with limit_outage_wait(_SECONDS):
            await self._app(scope, receive, send)
