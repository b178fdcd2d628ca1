"""A PostgreSQL that goes away: a socket in front of the real one, which cuts its connections and refuses new ones."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

_PIECE = 65_536


def get_socket(url: str) -> Path:
    """Return the server's socket from the URL of a database."""
    parameters = parse_qs(urlsplit(url).query)
    return Path(parameters["host"][0]) / f".s.PGSQL.{parameters.get('port', ['5432'])[0]}"


class PostgresProxy:
    def __init__(self, url: str, folder: Path) -> None:
        self._behind = get_socket(url)
        self._socket = folder / self._behind.name
        parts = urlsplit(url)
        query = parse_qs(parts.query) | {"host": [str(folder)]}
        self.url = parts._replace(query=urlencode(query, doseq=True)).geturl()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self._flows = asyncio.Event()
        self._flows.set()

    @classmethod
    @asynccontextmanager
    async def run_before(cls, url: str) -> AsyncIterator["PostgresProxy"]:
        with tempfile.TemporaryDirectory(prefix="assayer-proxy-") as folder:
            proxy = cls(url, Path(folder))
            await proxy.restore()
            try:
                yield proxy
            finally:
                await proxy.cut_connections()

    async def restore(self) -> None:
        self._socket.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._accept, self._socket)

    async def cut_connections(self) -> None:
        if self._server is not None:
            self._server.close()
        self._socket.unlink(missing_ok=True)
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def hold(self) -> None:
        """Keep connections open and let nothing through, like a host that has vanished."""
        self._flows.clear()

    def let_go(self) -> None:
        self._flows.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        answers, questions = await asyncio.open_unix_connection(str(self._behind))
        copy_tasks = [
            asyncio.create_task(self._copy(reader, questions)),
            asyncio.create_task(self._copy(answers, writer)),
        ]
        try:
            with suppress(asyncio.CancelledError):
                await asyncio.wait(copy_tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for item in copy_tasks:
                item.cancel()
            await asyncio.gather(*copy_tasks, return_exceptions=True)
            writer.transport.abort()
            questions.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE):
            await self._flows.wait()
            writer.write(piece)
            await writer.drain()
