"""Embedded server as seen by its users.

Users are processes. Each holds a shared lock on the file `users` throughout its life, so that a process that exits can
tell whether it is the last user, even if others were killed. The lock on the file `lock` lets only one process at a
time start or stop the server."""

import asyncio
import atexit
import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from assayer.errors import ConfigurationError, StorageError
from cluster.postgres.data_directory import PostgresDataDirectory
from cluster.postgres.programs import OWN_SERVER_HINT, PostgresPrograms


class EmbeddedPostgres:
    """PostgreSQL server shared by all processes that use the same directory; it stops when its last user exits."""

    def __init__(self, data_dir: Path, start_seconds: float = 60.0, durable: bool = True) -> None:
        """Use a directory, created when needed; `start_seconds` limits each wait for the server. If not `durable`, a
        power failure may destroy the whole database, but a killed process loses nothing; intended for short-lived
        directories."""
        self._home = data_dir.expanduser().absolute()
        self._seconds = start_seconds
        self._durable = durable
        self._guard = threading.Lock()
        self._directory: PostgresDataDirectory | None = None
        self._seat: int | None = None
        self._seated_in = 0

    async def __aenter__(self) -> Self:
        await self.ensure()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ensure(self) -> str:
        """Return the URL of a running server, started or restarted if necessary; takes a few milliseconds if it is
        already running.

        Raises ConfigurationError for a directory that cannot be used, StorageError if the server does not start."""
        if self._directory is None:
            self._directory = PostgresDataDirectory(self._home, PostgresPrograms.find(), self._seconds, self._durable)
        return await asyncio.to_thread(self._ensure, self._directory)

    async def close(self) -> None:
        """Release the server; the last user stops it. A process that exits normally does this automatically."""
        await asyncio.to_thread(self._leave)

    def _ensure(self, directory: PostgresDataDirectory) -> str:
        try:
            with self._guard:
                self._home.mkdir(parents=True, exist_ok=True)
                with self._alone():
                    self._take_seat()
                    return directory.serve()
        except OSError as error:
            raise ConfigurationError(
                f"The database directory {self._home} cannot be used: {error.strerror} ({error.filename}).",
                f"Set ASSAYER_HOME to a directory that you may write to. {OWN_SERVER_HINT}",
            ) from error

    def _take_seat(self) -> None:
        if self._seat is None:
            self._seat = os.open(self._home / "users", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._seat, fcntl.LOCK_SH | fcntl.LOCK_NB)
            self._seated_in = os.getpid()
            atexit.register(self._leave)

    def _leave(self) -> None:
        with self._guard:
            seat, self._seat = self._seat, None
            if seat is None or self._directory is None or self._seated_in != os.getpid():
                return  # a forked child shares its parent's seat and has none to give up
            atexit.unregister(self._leave)
            # BlockingIOError: others still sit there. FileNotFoundError: the directory was deleted, which its
            # server notices within a minute.
            with suppress(BlockingIOError, FileNotFoundError), self._alone():
                fcntl.flock(seat, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._directory.stop()
            os.close(seat)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        handle = os.open(self._home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        waiting = Retrying(
            retry=retry_if_exception_type(BlockingIOError), wait=wait_fixed(0.02), stop=stop_after_delay(self._seconds)
        )
        try:
            waiting(fcntl.flock, handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except RetryError:
            os.close(handle)
            raise StorageError(
                f"Another process has been starting or stopping the database in {self._home} for {self._seconds:g} s."
            ) from None
        try:
            yield
        finally:
            os.close(handle)
