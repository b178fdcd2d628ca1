"""The server of the API by itself."""

import signal

from starlette.applications import Starlette

from cluster.http_server import serve_http
from cluster.listening import open_listening_socket


async def test_previous_signal_handlers_are_restored() -> None:
    def handler(*_: object) -> None:
        pass

    async def nothing() -> None:
        pass

    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with open_listening_socket("127.0.0.1", 0) as listening:
            await serve_http(Starlette(), listening, nothing, nothing)
        assert [signal.getsignal(number) for number in before] == [handler, handler]
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)
