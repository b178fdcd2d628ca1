"""HEAD on every GET route (RFC 9110), and a time limit for requests while the database is down."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.store.database import limit_outage_wait

_MAX_WAIT_SECONDS = 2.0


class HeadRequests:
    """Middleware that handles HEAD like GET but sends no body. It excludes event streams, which do not end, and
    results, whose export is logged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].endswith(("/events", "/results")):
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, send_head)


class OutageLimit:
    """Middleware that limits how long a request waits for an unreachable database to two seconds; the response is then
    a 503. Jobs wait much longer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with limit_outage_wait(_MAX_WAIT_SECONDS):
            await self._app(scope, receive, send)
