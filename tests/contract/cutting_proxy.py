"""Proxy on loopback that cuts connections after a given number of bytes of the server's answer."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

_PIECE = 4096


@asynccontextmanager
async def run_cutting_proxy(url: str, byte_limits: Sequence[int]) -> AsyncIterator[str]:
    """Run a proxy in front of `url` and yield its address.

    Each of the first connections is cut after the number of bytes in `byte_limits`; later ones are not cut."""
    host, port = url.removeprefix("http://").split(":")
    remaining_limits = list(byte_limits)
    open_tasks: set[asyncio.Task[None]] = set()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, max_bytes: int | None) -> None:
        while piece := await reader.read(_PIECE if max_bytes is None else min(_PIECE, max_bytes)):
            writer.write(piece)
            await writer.drain()
            if max_bytes is not None and (max_bytes := max_bytes - len(piece)) <= 0:
                return

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_tasks.add(task)
        task.add_done_callback(open_tasks.discard)
        max_bytes = remaining_limits.pop(0) if remaining_limits else None
        upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
        request_task = asyncio.create_task(forward(reader, upstream_writer))
        try:
            if max_bytes == 0:
                # The request arrives and is done; its answer is not seen.
                await upstream_reader.read(1)
            else:
                await answer(upstream_reader, writer, max_bytes)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            request_task.cancel()
            await asyncio.gather(request_task, return_exceptions=True)
            writer.transport.abort()
            upstream_writer.transport.abort()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in list(open_tasks):
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)
