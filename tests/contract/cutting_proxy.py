"""A proxy on loopback that cuts connections: after so many bytes of what the server answers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

_PIECE = 4096


@asynccontextmanager
async def cutting(url: str, after: Sequence[int]) -> AsyncIterator[str]:
    """Run a proxy in front of `url` and yield its address.

    The first connections are cut after the numbers of answer bytes in `after`, later ones never."""
    host, port = url.removeprefix("http://").split(":")
    left = list(after)
    open_ones: set[asyncio.Task[None]] = set()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
        while piece := await reader.read(_PIECE if most is None else min(_PIECE, most)):
            writer.write(piece)
            await writer.drain()
            if most is not None and (most := most - len(piece)) <= 0:
                return

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_ones.add(task)
        task.add_done_callback(open_ones.discard)
        most = left.pop(0) if left else None
        back, forth = await asyncio.open_connection(host, int(port))
        asking = asyncio.create_task(forward(reader, forth))
        try:
            if most == 0:
                # The request arrives and is done; its answer is not seen.
                await back.read(1)
            else:
                await answer(back, writer, most)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            writer.transport.abort()
            forth.transport.abort()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in list(open_ones):
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)
