"""Hearing at once what others committed. Notifications are hints: whoever misses one finds the rows all the same."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import asyncpg
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from assayer.errors import StorageError
from orchestrator.store.database import Database
from orchestrator.store.failures import LOST
from orchestrator.store.telling import CHANNELS, Channel

__all__ = ["CHANNELS", "Channel", "Heard", "Listener", "Missed"]

_LOG = logging.getLogger(__name__)

_GONE: tuple[type[Exception], ...] = (*LOST, asyncpg.InterfaceError, asyncpg.PostgresError, StorageError)
_MOST_UNHEARD = 1_000
_PULSE_SECONDS = 10.0
"""Between questions that show whether the connection lives."""


class Missed:
    """The connection was lost, or more came than was taken: look for yourself."""


class Heard:
    """What one listener has not taken yet."""

    def __init__(self) -> None:
        self._unheard: deque[str] = deque()
        self._missed = False
        self._something = asyncio.Event()

    async def next(self, timeout: float) -> str | Missed | None:
        """The next payload; None when `timeout` seconds brought nothing."""
        try:
            async with asyncio.timeout(timeout):
                await self._something.wait()
        except TimeoutError:
            return None
        found: str | Missed = Missed() if self._missed else self._unheard.popleft()
        self._missed = False
        if not self._unheard:
            self._something.clear()
        return found

    def put(self, payload: str) -> None:
        if len(self._unheard) == _MOST_UNHEARD:
            self.miss()
        else:
            self._unheard.append(payload)
            self._something.set()

    def miss(self) -> None:
        """Whoever looks for itself need not hear what came before."""
        self._unheard.clear()
        self._missed = True
        self._something.set()


class Listener:
    """One connection for all who listen in this process; use as an async context manager.

    It outlives restarts of the server. Subscribe first, look at the rows then, and wait for what changes last."""

    def __init__(self, database: Database, channels: Sequence[Channel] = CHANNELS) -> None:
        self._database = database
        self._channels = channels
        self._ears: dict[tuple[str, str | None], set[Heard]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen_for_ever(), name="listener")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @asynccontextmanager
    async def on(self, channel: Channel, only: str | None = None) -> AsyncIterator[Heard]:
        """All payloads of a channel, or one that is waited for. Without a connection it is silent, and Missed is the
        first that is heard when there is one again."""
        if channel not in self._channels:
            raise ValueError(f"This listener does not listen on {channel}.")
        ear = Heard()
        ears = self._ears.setdefault((channel, only), set())
        ears.add(ear)
        try:
            yield ear
        finally:
            ears.discard(ear)
            if not ears:
                self._ears.pop((channel, only), None)

    async def _listen_for_ever(self) -> None:
        patient = AsyncRetrying(
            retry=retry_if_exception_type(_GONE), wait=wait_random_exponential(multiplier=0.05, max=2.0)
        )
        while True:
            connection: asyncpg.Connection[asyncpg.Record] = await patient(self._database.dial)
            try:
                await self._listen(connection)
            except _GONE as error:
                _LOG.warning("the connection for notifications was lost: %s", error)
            finally:
                connection.terminate()

    async def _listen(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """Returns when the connection is gone."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        for channel in self._channels:
            await connection.add_listener(channel, self._hear)
        for ears in self._ears.values():
            for ear in ears:
                ear.miss()
        while not lost.is_set():
            try:
                async with asyncio.timeout(_PULSE_SECONDS):
                    await lost.wait()
            except TimeoutError:
                await connection.execute("SELECT 1")

    def _hear(self, _: Any, __: int, channel: str, payload: object) -> None:
        text = str(payload)
        for key in ((channel, None), (channel, text)):
            for ear in self._ears.get(key, ()):
                ear.put(text)
