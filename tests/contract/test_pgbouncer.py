"""Through PgBouncer by transaction: everything but the connection that listens."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from pydantic import SecretStr

from orchestrator.settings import DatabaseSettings
from orchestrator.store import Database, NotificationListener, PgAnswerCache, PgEvents
from orchestrator.store.chore_lock import PgChoreLock
from tests.contract.postgres_proxy import get_socket
from tests.contract.store_jobs import Queue, build_job, create_tenant
from tests.contract.store_records import answer, build_answered_row
from tests.polling import wait_until

_PORT = 6432
_CONFIGURATION = """
[databases]
* = host={host} port={port} user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = {own_port}
auth_type = any
pool_mode = transaction
max_prepared_statements = 100
default_pool_size = 3
min_pool_size = 3
ignore_startup_parameters = extra_float_digits
{user}
"""


def _find_program() -> str:
    """Skips where there is none that keeps prepared statements apart, which 1.21 was the first to do."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    program = os.environ.get("ASSAYER_TEST_PGBOUNCER") or shutil.which("pgbouncer", path=path)
    if program is None:
        pytest.skip("PgBouncer is not installed")
    version_words = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()
    major, minor = (int(part) for part in version_words[1].split(".")[:2])
    if (major, minor) < (1, 21):
        pytest.skip(f"PgBouncer {major}.{minor} keeps no prepared statements apart by transaction; 1.21 does")
    return program


@pytest.fixture
def pooled_url(database_url: str) -> Iterator[str]:
    program, behind = _find_program(), get_socket(database_url)
    with tempfile.TemporaryDirectory(prefix="assayer-pgbouncer-") as name:
        folder, user = Path(name), ""
        if os.geteuid() == 0:
            folder.chmod(0o777)
            user = f"user = {behind.parent.owner()}"
        configuration = folder / "pgbouncer.ini"
        configuration.write_text(
            _CONFIGURATION.format(
                host=behind.parent, port=behind.name.rpartition(".")[2], folder=folder, own_port=_PORT, user=user
            )
        )
        with subprocess.Popen([program, "-q", str(configuration)]) as process:
            try:
                wait_until((folder / f".s.PGSQL.{_PORT}").exists, bool)
                parts = urlsplit(database_url)
                query = parse_qs(parts.query) | {"host": [str(folder)], "port": [str(_PORT)]}
                yield parts._replace(query=urlencode(query, doseq=True)).geturl()
            finally:
                process.terminate()


@pytest.fixture
async def pooled_database(pooled_url: str, database_url: str, database: Database) -> AsyncIterator[Database]:
    """Database with more connections than the pooler has to the server, so that statements share them."""
    settings = DatabaseSettings(url=SecretStr(pooled_url), direct_url=SecretStr(database_url), max_connections=12)
    async with Database(settings) as through:
        await through.migrate()
        yield through


async def test_jobs_are_leased_and_returned_by_concurrent_workers(pooled_database: Database) -> None:
    await create_tenant(pooled_database)
    queue = Queue(pooled_database)
    await queue.add(*(build_job() for _ in range(60)))

    async def work() -> int:
        done_count = 0
        while leases := await queue.acquire_leases(free=2):
            for lease in leases:
                await PgEvents(pooled_database).append(lease.job, "progress", {"stages": {}}, lease.token)
                await queue.leases.renew([lease.token])
                await queue.leases.give_back(lease, "Later.", attempt_failed=False, after_seconds=600.0)
                done_count += 1
        return done_count

    assert sum(await asyncio.gather(*(work() for _ in range(12)))) == 60


async def test_answers_are_claimed_and_stored_once_by_concurrent_processes(pooled_database: Database) -> None:
    caches = [PgAnswerCache(pooled_database) for _ in range(12)]
    keys = [f"key {number}" for number in range(20)]

    async def ask(cache: PgAnswerCache, name: str) -> int:
        claimed = [key for key in keys if await cache.find_or_claim(key, name, 60.0) == "claimed"]
        for key in claimed:
            await cache.record(build_answered_row(key), answer(key), claimant=name)
        return len(claimed)

    requests = (ask(cache, f"process {number}") for number, cache in enumerate(caches))
    assert sum(await asyncio.gather(*requests)) == len(keys)


async def test_chore_runs_exclusively_and_can_be_repeated(pooled_database: Database) -> None:
    chore_begun, go_on = asyncio.Event(), asyncio.Event()

    async def run_chore() -> None:
        chore_begun.set()
        await go_on.wait()

    async with PgChoreLock(pooled_database) as lock, PgChoreLock(pooled_database) as other_lock:
        first = asyncio.create_task(lock.run_alone("sweep", run_chore))
        await chore_begun.wait()
        for item in (lock, other_lock):
            assert not any(await asyncio.gather(*(item.run_alone("sweep", run_chore) for _ in range(3))))
        go_on.set()
        assert await first
        for item in (lock, other_lock, lock, other_lock):
            assert await item.run_alone("sweep", run_chore)


async def test_notifications_bypass_the_pooler(pooled_database: Database) -> None:
    await create_tenant(pooled_database)
    async with NotificationListener(pooled_database) as listener, listener.subscribe("assayer_jobs") as notifications:
        await notifications.next(30.0)  # that it listens now
        await Queue(pooled_database).add(build_job())
        assert await notifications.next(30.0) == "queued"
