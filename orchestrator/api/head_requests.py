"""HEAD wherever there is a GET (RFC 9110): the same headers, and no body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HeadRequests"]


class HeadRequests:
    """Asks the application for what a GET would be answered, and leaves the body out. Not of event streams, which have
    no end, and not of results, whose export is written down."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].endswith(("/events", "/results")):
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, send_head)
