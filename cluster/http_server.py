"""HTTP server that runs an application until a stop signal. The first signal drains it; the second stops it
immediately."""

import asyncio
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_SWITCH_SECONDS = 0.0005
"""Thread switch interval in seconds. It bounds how long the event loop waits for a thread that reads an upload or
writes a report. With Python's default of 5 ms, every database response that arrives in the meantime would wait that
long."""
_CLOSING_SECONDS = 5
"""Seconds that responses in flight have to finish when the server closes. Clients resume event streams on another
server."""


class _Server(uvicorn.Server):
    """Uvicorn server without signal handlers, because `serve_http` handles signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve_http(
    app: Starlette,
    listening: socket.socket,
    run: Callable[[], Awaitable[object]],
    drain: Callable[[], Awaitable[None]],
) -> None:
    """Serve the app until a stop signal arrives or until `run`, which runs concurrently, ends; errors from `run` are
    raised. On the first SIGTERM or SIGINT, `drain` is awaited while requests are still answered. The second signal
    cancels the caller."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_CLOSING_SECONDS,
    )
    server = _Server(config)
    with _stop_event() as stop_signal:
        serving = asyncio.create_task(server.serve([listening]))
        running = asyncio.ensure_future(run())
        stopping = asyncio.create_task(stop_signal.wait())
        try:
            await asyncio.wait((serving, running, stopping), return_when=asyncio.FIRST_COMPLETED)
            if stop_signal.is_set():
                await drain()
            elif running.done():
                await running  # raises its error, if any
        finally:
            server.should_exit = True
            running.cancel()
            stopping.cancel()
            await asyncio.gather(running, stopping, return_exceptions=True)
            await asyncio.wait((serving,), timeout=2 * _CLOSING_SECONDS)
            serving.cancel()


@contextmanager
def _stop_event() -> Iterator[asyncio.Event]:
    """Yield an event that the first stop signal sets. The second signal cancels the task inside the context.
    Afterwards, the previous signal handlers are restored."""
    stopping = asyncio.Event()
    previous_handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def on_signal() -> None:
        if stopping.is_set() and task is not None:
            task.cancel()
        stopping.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal)
    try:
        yield stopping
    finally:
        for number, handler in previous_handlers.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
