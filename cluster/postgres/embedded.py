"""Embedded PostgreSQL server, shared by processes.

Each process that uses the server holds a shared lock on the file `users` for as long as it runs. A process that exits
can therefore tell whether it is the last user, even if others were killed. The lock on the file `lock` lets only one
process at a time start or stop the server."""

import asyncio
import atexit
import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from assayer.errors import ConfigurationError, StorageError
from cluster.postgres.data_directory import PostgresDataDirectory
from cluster.postgres.programs import OWN_SERVER_HINT, PostgresPrograms


class EmbeddedPostgres:
    """PostgreSQL server shared by all processes that use the same directory. It stops when its last user exits."""

    def __init__(self, data_dir: Path, start_seconds: float = 60.0, durable: bool = True) -> None:
        """Use `data_dir`, which is created if needed; `start_seconds` limits each wait for the server. With `durable`
        False, meant for short-lived directories, a power failure may destroy the database, though killing processes
        cannot."""
        self._home = data_dir.expanduser().absolute()
        self._seconds = start_seconds
        self._durable = durable
        self._guard = threading.Lock()
        self._directory: PostgresDataDirectory | None = None
        self._user_lock: int | None = None
        self._locked_by_pid = 0

    async def __aenter__(self) -> Self:
        await self.ensure()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def ensure(self) -> str:
        """Start the server if it is not running, and return its URL. Takes a few milliseconds if it is already running.

        Raises ConfigurationError if the directory is unsuitable, or StorageError if the server does not start."""
        if self._directory is None:
            self._directory = PostgresDataDirectory(self._home, PostgresPrograms.find(), self._seconds, self._durable)
        return await asyncio.to_thread(self._ensure, self._directory)

    async def close(self) -> None:
        """Release the server. The last user stops it. A process that exits normally does this automatically."""
        await asyncio.to_thread(self._leave)

    def _ensure(self, directory: PostgresDataDirectory) -> str:
        try:
            with self._guard:
                self._home.mkdir(parents=True, exist_ok=True)
                with self._hold_lock():
                    self._lock_as_user()
                    return directory.serve()
        except OSError as error:
            raise ConfigurationError(
                f"The database directory {self._home} is not usable: {error.strerror} ({error.filename}).",
                f"Set ASSAYER_HOME to a writable directory. {OWN_SERVER_HINT}",
            ) from error

    def _lock_as_user(self) -> None:
        if self._user_lock is None:
            self._user_lock = os.open(self._home / "users", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._user_lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            self._locked_by_pid = os.getpid()
            atexit.register(self._leave)

    def _leave(self) -> None:
        with self._guard:
            lock, self._user_lock = self._user_lock, None
            if lock is None or self._directory is None or self._locked_by_pid != os.getpid():
                return  # a forked child shares its parent's lock and must not release it
            atexit.unregister(self._leave)
            # BlockingIOError: other processes still use the server. FileNotFoundError: the directory was deleted; its
            # server notices that within a minute and exits.
            with suppress(BlockingIOError, FileNotFoundError), self._hold_lock():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._directory.stop()
            os.close(lock)

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
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
