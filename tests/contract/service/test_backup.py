"""A backup as docs/run/backup.md says to make it: dumped while the service works, restored elsewhere."""

import asyncio
import shutil
import subprocess
import tempfile
from pathlib import Path

import asyncpg
from pydantic import SecretStr

from cluster.postgres import EmbeddedPostgres
from cluster.postgres.programs import PostgresPrograms
from cluster.settings import Settings
from orchestrator.settings import QueueSettings
from simulator.process import Simulator
from tests.contract.service.caller import IDEA
from tests.contract.service.running_service import count_answered_requests, run_service
from tests.polling import wait_until_async

_SECONDS = 120.0
TREES = (
    "We measure how quickly seedlings of four oak species root in compacted soil, with and without the fungi of old "
    "forests, to learn whether replanting fails for want of fungi or of air in the ground."
)


async def run_tool(program: str, *arguments: str) -> None:
    completed = await asyncio.to_thread(
        subprocess.run,
        [str(PostgresPrograms.find().folder / program), *arguments],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr


async def test_live_database_dump_restores_reports_keys_and_running_jobs(
    settings: Settings, simulator: Simulator, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    settings = settings.model_copy(update={"queue": QueueSettings(lease_seconds=3)})
    dump = str(tmp_path / "assayer.dump")
    async with run_service(settings) as world:
        key = world.caller.client.headers["Authorization"].removeprefix("Bearer ")
        finished_id = await world.caller.submit(source="quotes.txt")
        before = await world.caller.wait_until_ended(finished_id)
        report = (await world.caller.fetch_report(finished_id)).json()
        simulator.configure(latency_mean=0.3)
        answered_count = simulator.read_stats().answered
        under_way = await world.caller.submit(TREES)
        await wait_until_async(count_answered_requests(simulator), lambda now: now >= answered_count + 3)
        await run_tool("pg_dump", "--format=custom", "--no-owner", f"--file={dump}", f"--dbname={database_url}")
        evaluation_before = await world.caller.get_evaluation(under_way)
        await world.caller.cancel(under_way)  # in the service that goes on: the backup knows nothing of it

    await run_tool("pg_restore", "--no-owner", "--exit-on-error", f"--dbname={empty_database_url}", dump)
    simulator.configure(latency_mean=0)
    restored = settings.model_copy(
        update={"database": settings.database.model_copy(update={"url": SecretStr(empty_database_url)})}
    )
    async with run_service(restored, key) as world:
        caller = world.caller
        assert await caller.get_evaluation(finished_id) == before
        assert (await caller.fetch_report(finished_id)).json() == report
        evaluation_after = await caller.wait_until_ended(under_way)
        asked_count = simulator.read_stats().answered
        same = await caller.wait_until_ended(await caller.submit(IDEA))
        events = (await caller.client.get(f"/v1/evaluations/{finished_id}/events")).text
    assert evaluation_before["state"] == "running"
    assert evaluation_after["state"] == "succeeded"
    assert evaluation_after["attempt"] > evaluation_before["attempt"]
    assert same["state"] == "succeeded"
    assert simulator.read_stats().answered == asked_count, "answers are part of the backup: nothing is paid for twice"
    assert "event: succeeded" in events


async def test_copied_data_directory_of_a_stopped_service_can_be_restored() -> None:
    # Not pytest's own temporary directory: as root the server runs as a user who may not pass through it.
    with tempfile.TemporaryDirectory(prefix="assayer-home-") as folder:
        first, second = Path(folder) / "one", Path(folder) / "two"
        async with EmbeddedPostgres(first / "postgres", durable=False) as server:
            connection = await asyncpg.connect(await server.ensure())
            await connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
            await connection.close()
        copied = await asyncio.to_thread(
            subprocess.run, [shutil.which("cp") or "cp", "-a", str(first), str(second)], check=False, timeout=_SECONDS
        )
        assert copied.returncode == 0
        async with EmbeddedPostgres(second / "postgres", durable=False) as server:
            connection = await asyncpg.connect(await server.ensure())
            answer = await connection.fetchval("SELECT answer FROM kept")
            await connection.close()
    assert answer == 42
