"""A chore is done by one process at a time, and what fails leaves the lock to others."""

import pytest

from assayer.errors import StorageError
from orchestrator.store import Database
from orchestrator.store.chore_lock import PgChoreLock


async def test_while_a_chore_is_done_nobody_else_begins_it_and_other_chores_go_on(database: Database) -> None:
    first, second = PgChoreLock(database), PgChoreLock(database)
    done: list[str] = []

    async def sweep_again() -> None:
        done.append("swept again")

    async def sweep() -> None:
        assert not await second.run_alone("sweep", sweep_again)
        assert await second.run_alone("dust", sweep_again)
        done.append("swept")

    assert await first.run_alone("sweep", sweep)
    assert await second.run_alone("sweep", sweep_again)
    assert done == ["swept again", "swept", "swept again"]


async def test_a_chore_that_fails_says_so_and_can_be_done_again(database: Database) -> None:
    lock = PgChoreLock(database)

    async def fail() -> None:
        raise StorageError("The database is out of reach.")

    async def work() -> None:
        pass

    with pytest.raises(StorageError):
        await lock.run_alone("sweep", fail)
    assert await lock.run_alone("sweep", work)
