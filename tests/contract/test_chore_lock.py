"""A chore is done by one process at a time, and what fails leaves the lock to others."""

import asyncio
from contextlib import suppress
from functools import partial

import pytest
from pydantic import SecretStr

from assayer.errors import StorageError
from orchestrator.execution.chores import Chore, run_chores
from orchestrator.store import Database, DatabaseSettings
from orchestrator.store.chore_lock import PgChoreLock


async def test_running_chore_excludes_other_processes_but_not_other_chores(database: Database) -> None:
    done: list[str] = []

    async def sweep_again() -> None:
        done.append("swept again")

    async def sweep() -> None:
        assert not await second.run_alone("sweep", sweep_again)
        assert await second.run_alone("dust", sweep_again)
        done.append("swept")

    async with PgChoreLock(database) as first, PgChoreLock(database) as second:
        assert await first.run_alone("sweep", sweep)
        assert await second.run_alone("sweep", sweep_again)
    assert done == ["swept again", "swept", "swept again"]


async def test_failed_chore_raises_and_releases_its_lock(database: Database) -> None:
    async def fail() -> None:
        raise StorageError("The database is out of reach.")

    async def work() -> None:
        pass

    async with PgChoreLock(database) as lock, PgChoreLock(database) as other_lock:
        with pytest.raises(StorageError):
            await lock.run_alone("sweep", fail)
        assert await other_lock.run_alone("sweep", work)


async def test_many_chores_finish_on_a_pool_of_two_connections(database_url: str) -> None:
    """All chores start together, and each needs connections for its work."""
    settings = DatabaseSettings(url=SecretStr(database_url), max_connections=2, patience_seconds=2)
    finished_chores: set[str] = set()
    all_done = asyncio.Event()

    async with Database(settings) as database, PgChoreLock(database) as lock:

        async def work(name: str) -> None:
            await database.fetch("SELECT pg_sleep(0.05)")
            finished_chores.add(name)
            if len(finished_chores) == 9:
                all_done.set()

        chores = [Chore(f"chore {n}", 0.01, partial(work, f"chore {n}")) for n in range(9)]
        running = asyncio.create_task(run_chores(chores, lock, 0.1))
        async with asyncio.timeout(10):
            await all_done.wait()
            await database.fetch("SELECT 1")
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_lock_is_free_once_its_process_has_lost_the_connection(database: Database) -> None:
    async def work() -> None:
        await database.fetch("""
            SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()
        """)

    async def nothing() -> None:
        pass

    async with PgChoreLock(database) as lock, PgChoreLock(database) as other_lock:
        assert await lock.run_alone("sweep", work)
        assert await other_lock.run_alone("sweep", nothing)
        assert await lock.run_alone("sweep", nothing)
