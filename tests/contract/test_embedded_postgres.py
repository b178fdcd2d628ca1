"""The embedded server: shared, stopped by the last, and back after every kind of kill."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from tenacity import Retrying, retry_if_exception_type, stop_after_delay

from assayer.errors import ConfigurationError, StorageError
from cluster.postgres import EmbeddedPostgres, postmaster
from cluster.postgres.programs import PostgresPrograms
from orchestrator.store import Database, DatabaseSettings, PgAnswerCache, PgLedger
from tests.contract.store_records import answer, build_answered_row
from tests.polling import wait_until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home() -> Iterator[Path]:
    # Not pytest's own temporary directory: as root the server runs as a user who may not pass through it.
    with tempfile.TemporaryDirectory(prefix="assayer-pg-") as folder:
        yield Path(folder) / "postgres"


@pytest.fixture(scope="module")
def used_home() -> Iterator[Path]:
    """A database that other tests have used before; making a new one is the slow part."""
    with tempfile.TemporaryDirectory(prefix="assayer-pg-") as folder:
        yield Path(folder) / "postgres"


def create_postgres(home: Path) -> EmbeddedPostgres:
    return EmbeddedPostgres(home, start_seconds=20, durable=False)


async def ask(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT 42"))
    finally:
        await connection.close()


def find_server_pid(home: Path) -> int | None:
    server = postmaster.find(home / "pgdata")
    return server.pid if server else None


def list_temporary_sockets() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("assayer-[0-9a-f]*/.s.PGSQL.*"))


def kill_server(home: Path) -> None:
    """Kill the server as `kill -9` does, and wait until no live process serves the directory."""
    os.kill(find_server_pid(home) or 0, signal.SIGKILL)
    wait_until(lambda: find_server_pid(home) is None)


def rewrite_pid(home: Path, pid: int) -> None:
    file = home / "pgdata" / "postmaster.pid"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([str(pid), *lines[1:]]) + "\n")


@contextlib.contextmanager
def create_zombie() -> Iterator[int]:
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        yield process.pid


def wait_for_first_start(home: Path) -> None:
    for attempt in Retrying(retry=retry_if_exception_type(StopIteration), stop=stop_after_delay(60)):
        with attempt:
            next(home.glob("new-*"))


@contextlib.contextmanager
def run_writer(home: Path, run: str, count: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.contract.store_writer", str(home), run, str(count)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


async def test_ensure_two_users_share_one_server_until_the_last_leaves(used_home: Path) -> None:
    first, second = create_postgres(used_home), create_postgres(used_home)
    async with first:
        pid = find_server_pid(used_home)
        async with second:
            assert await first.ensure() == await second.ensure()
        assert find_server_pid(used_home) == pid
        assert await ask(await first.ensure()) == 42
    assert find_server_pid(used_home) is None


async def test_rows_survive_closing_and_restarting_the_server(used_home: Path) -> None:
    for _ in range(2):
        async with create_postgres(used_home) as server:
            connection = await asyncpg.connect(await server.ensure())
            await connection.execute("CREATE TABLE IF NOT EXISTS seen (at timestamptz DEFAULT now())")
            await connection.execute("INSERT INTO seen DEFAULT VALUES")
            rows = await connection.fetchval("SELECT count(*) FROM seen")
            await connection.close()
    assert rows == 2


async def test_two_processes_start_concurrently_on_an_empty_directory(home: Path) -> None:
    with run_writer(home, "one", 20) as first_writer, run_writer(home, "two", 20) as two:
        written = [await asyncio.to_thread(process.communicate) for process in (first_writer, two)]

    assert [first_writer.returncode, two.returncode] == [0, 0]
    assert [len(output.split()) for output, _ in written] == [20, 20]
    assert find_server_pid(home) is None  # the second to exit stopped it, without being asked to
    async with create_postgres(home) as server, Database(DatabaseSettings(), server.ensure) as database:
        rows = await database.fetch("SELECT count(*) AS calls FROM ledger GROUP BY run_id")
        assert [row["calls"] for row in rows] == [20, 20]


async def test_server_killed_under_load_restarts_without_data_loss(used_home: Path) -> None:
    async with create_postgres(used_home) as server, Database(DatabaseSettings(), server.ensure) as database:
        await database.migrate()
        answers = PgAnswerCache(database)
        keys = [f"k{number}" for number in range(600)]
        waiting = iter(keys)
        recorded: list[str] = []
        servers = {find_server_pid(used_home)}

        async def work() -> None:
            for key in waiting:
                await answers.record(build_answered_row(key), answer(key))
                recorded.append(key)
                if len(recorded) in (150, 400):
                    servers.add(find_server_pid(used_home))
                    os.kill(find_server_pid(used_home) or 0, signal.SIGKILL)
                assert await answers.find(key) == answer(key)

        await asyncio.gather(*(work() for _ in range(32)))

        servers.add(find_server_pid(used_home))
        rows = await PgLedger(database).list_rows("run")
        assert len(servers) == 3
        assert sorted(row.key for row in rows) == sorted(recorded) == sorted(keys)
        assert all([await answers.find(key) == answer(key) for key in keys])
    assert find_server_pid(used_home) is None


@pytest.mark.slow  # a killed service finds its rows again in tests/e2e/test_serve.py
async def test_acknowledged_rows_survive_killed_client(home: Path) -> None:
    with run_writer(home, "run", 1_000_000) as client:
        assert client.stdout is not None
        acknowledged = [(await asyncio.to_thread(client.stdout.readline)).strip() for _ in range(200)]
        client.kill()
        remaining, _ = await asyncio.to_thread(client.communicate)
        acknowledged += [line for line in remaining.splitlines(keepends=False) if line]

    assert find_server_pid(home) is not None  # the killed process could not stop it
    async with create_postgres(home) as server, Database(DatabaseSettings(), server.ensure) as database:
        # One statement, one moment: what the killed client had sent may still be on its way in.
        rows = await database.fetch(
            "SELECT ledger.key AS paid, answers.key AS kept FROM ledger FULL JOIN answers USING (key)"
        )
    assert all(row["paid"] == row["kept"] for row in rows)
    assert len({row["paid"] for row in rows}) == len(rows)
    assert set(acknowledged[:-1]) <= {row["paid"] for row in rows}  # the last line may be cut
    assert find_server_pid(home) is None


async def test_pid_file_of_another_process_does_not_block_start(used_home: Path) -> None:
    async with create_postgres(used_home) as server:
        kill_server(used_home)
        rewrite_pid(used_home, os.getpid())

        assert await ask(await server.ensure()) == 42


async def test_pid_file_of_a_zombie_process_does_not_block_start(used_home: Path) -> None:
    async with create_postgres(used_home) as server:
        kill_server(used_home)
        with create_zombie() as pid:
            rewrite_pid(used_home, pid)

            assert await ask(await server.ensure()) == 42


async def test_removed_socket_is_restored(used_home: Path) -> None:
    async with create_postgres(used_home) as server:
        (used_home / "pgdata" / ".s.PGSQL.5432").unlink()

        assert await ask(await server.ensure()) == 42


async def test_leftovers_of_a_killed_first_start_are_removed(home: Path) -> None:
    half_made = home / "new-killed"
    (half_made / "base").mkdir(parents=True)
    (half_made / "PG_VERSION").write_text("18\n")

    async with create_postgres(home) as server:
        assert await ask(await server.ensure()) == 42
        assert not half_made.exists()


@pytest.mark.slow
async def test_first_start_killed_midway_is_repeated(home: Path) -> None:
    with run_writer(home, "one", 1) as first:
        await asyncio.to_thread(wait_for_first_start, home)
        first.kill()

    async with create_postgres(home) as server:
        assert await ask(await server.ensure()) == 42


@pytest.mark.parametrize(
    "name", ['it\'s $HOME `date` "quoted"', "é" * 60], ids=["shell_characters", "longer_than_a_socket_path"]
)
async def test_unusual_path_works_and_leaves_nothing_running(home: Path, name: str) -> None:
    odd = home.parent / name
    async with create_postgres(odd) as server:
        assert await ask(await server.ensure()) == 42
    assert find_server_pid(odd) is None
    assert list_temporary_sockets() == []


async def test_path_too_long_for_any_socket_is_rejected_with_hint(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far = home.parent / ("t" * 100)
    far.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(far))

    with pytest.raises(ConfigurationError, match="103 bytes") as caught:
        await EmbeddedPostgres(home.parent / ("d" * 100)).ensure()

    assert "ASSAYER_HOME" in caught.value.hint


@pytest.mark.parametrize("folder", [Path(__file__) / "postgres", Path("/proc/assayer")], ids=["below_a_file", "proc"])
async def test_unusable_directory_is_rejected_with_hint(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not usable: ") as caught:
        await EmbeddedPostgres(folder).ensure()

    assert "ASSAYER_HOME" in caught.value.hint
    assert "ASSAYER_DATABASE__URL" in caught.value.hint


def test_full_disk_is_named_without_the_output_of_initdb(home: Path) -> None:
    home.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(home)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("a file system of its own can be mounted by root only")
    try:
        with pytest.raises(StorageError, match="No space left on device") as caught:
            asyncio.run(EmbeddedPostgres(home).ensure())
        assert "The files belonging" not in str(caught.value)
    finally:
        subprocess.run(["umount", "--lazy", home], check=True)


async def test_directory_of_another_postgres_version_is_rejected(home: Path) -> None:
    (home / "pgdata").mkdir(parents=True)
    (home / "pgdata" / "PG_VERSION").write_text("15\n")

    with pytest.raises(ConfigurationError, match="was created by PostgreSQL 15, but this installation has version 18"):
        await create_postgres(home).ensure()


async def test_foreign_database_directory_is_rejected_and_left_unchanged(home: Path) -> None:
    (home.parent / "PG_VERSION").write_text("18\n")

    with pytest.raises(ConfigurationError, match="that assayer did not create"):
        await EmbeddedPostgres(home.parent).ensure()

    assert not (home.parent / "pgdata").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another user")
def test_folders_opened_for_the_server_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with tempfile.TemporaryDirectory(prefix="assayer-pg-") as name:
        closed, open_folder = Path(name), Path(name) / "open"
        (open_folder / "postgres").mkdir(parents=True)
        closed.chmod(0o700)
        open_folder.chmod(0o751)
        for _ in range(2):
            PostgresPrograms.find().allow_access(open_folder / "postgres")
        assert (closed.stat().st_mode & 0o777, open_folder.stat().st_mode & 0o777) == (0o701, 0o751)
        (warning,) = [record.getMessage() for record in caplog.records if record.name == "cluster.postgres.programs"]
        assert warning.endswith(f"enter (but not list or read) {closed}.")
