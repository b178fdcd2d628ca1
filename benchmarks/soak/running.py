"""Soak run: starts a service with traffic, ages its data, updates its corpus, and samples what may grow."""

import asyncio
import json
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import asyncpg
import psutil

from assayer_client import AsyncClient, KeyBody, TenantBody, WebhookBody
from benchmarks.chaos.running import build_environment
from benchmarks.processes import count_allocated_bytes, find_database_server, list_process_tree
from benchmarks.service import Service, run_service
from benchmarks.soak.traffic import Answer, Pace, Receiver, Traffic, run_failing_receiver
from cluster.postgres import EmbeddedPostgres
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWriter
from simulator.process import Simulator

_EXAMPLES = Path(__file__).parents[2] / "examples"
_PROGRAM = Path(sys.executable).with_name("assayer")
_SAMPLE_SECONDS = 10.0
_PURGE_SECONDS = 30.0
_AGE_SECONDS = 60.0
_UPDATE_COUNT = 2
"""Number of corpus updates, all before the measurement: a version that is replaced stays open for two hours, so that
each update takes memory, threads and files once."""
_KEPT_SECONDS = 240.0
"""Seconds for which ended work is kept before it is aged beyond every retention period."""
_FILLING_SECONDS = 2 * _KEPT_SECONDS
"""Seconds of traffic before the measurement, until the purge deletes as many jobs and traces of jobs as are added."""
_RETENTION_DAYS = 90
_REQUESTS_PER_MINUTE = 60_000

# As if 400 days had passed since. The audit log is append-only, and grows by design.
_AGE = tuple(
    f"UPDATE {table} SET {', '.join(f'{name} = {name} - interval $$400 days$$' for name in columns)} WHERE {condition}"  # noqa: S608
    for table, columns, condition in (
        ("ledger", ("at", "written_at"), "run_id IN (SELECT run_id FROM jobs WHERE finished_at < {before})"),
        ("events", ("at",), "job IN (SELECT id FROM jobs WHERE finished_at < {before})"),
        ("jobs", ("created_at", "started_at", "finished_at"), "finished_at < {before}"),
        ("batches", ("created_at",), "created_at < {before}"),
        ("deliveries", ("created_at",), "state <> 'pending' AND created_at < {before}"),
        ("idempotency", ("created_at",), "created_at < {before}"),
        ("erased_runs", ("erased_at",), "erased_at < {before}"),
        ("tombstones", ("deleted_at",), "deleted_at < {before}"),
        ("replies", ("fetched_at", "expires_at"), "fetched_at < {before}"),
    )
)
_NOT_AGED = "finished_at > now() - interval '300 days' OR finished_at IS NULL"
_TABLES = """
    SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
"""


class Soak(NamedTuple):
    seed: int
    corpus: Path
    seconds: float
    restart_seconds: float | None = None
    """Seconds between two restarts of PostgreSQL; None: no restarts."""
    latency: float = 1.0
    rate: float = 1.0
    """Traffic relative to the usual one."""


class Sample(NamedTuple):
    at: float
    memory: int
    """Bytes that the service has allocated, without the database."""
    database_memory: int
    """Bytes that the database's processes have allocated, without shared buffers."""
    files: int
    """Open files and sockets of the service's processes."""
    threads: int
    connections: int
    """Connections to the database."""
    rows: Mapping[str, int]
    """Number of rows by table."""
    bytes: Mapping[str, int]
    """Size of each table with its indexes, in bytes."""


class SoakResult(NamedTuple):
    seconds: float
    rate: float
    samples: Sequence[Sample]
    answers: Sequence[Answer]
    receiver: Receiver
    update_outcomes: Sequence[str]
    """Outcome of each corpus update."""
    states: Mapping[str, int]
    """Number of evaluations by state at the end; purged ones are not counted."""
    restarts: int
    starts: int
    """Number of starts of the service's process."""


async def run(soak: Soak, home: Path) -> SoakResult:
    """Run in the new directory `home`. Raises TimeoutError if the service does not start."""
    with Simulator(latency_mean=soak.latency) as simulator:
        settings = build_environment(soak.corpus, simulator, home) | {
            "ASSAYER_WORK__PURGE_SECONDS": f"{_PURGE_SECONDS:g}",
            "ASSAYER_RETENTION__LEDGER_MONTHS": "12",
            "ASSAYER_RETENTION__EVENT_MONTHS": "12",
            "ASSAYER_RETENTION__TOMBSTONE_DAYS": "365",
            "ASSAYER_WEBHOOKS__ALLOW": "127.0.0.0/8",
            "ASSAYER_WEBHOOKS__PLAIN_HTTP": "true",
        }
        async with run_failing_receiver(soak.seed) as receiver, run_service(Service(home, (), settings)) as service:
            pace = Pace(*(seconds / soak.rate for seconds in Pace()))
            traffic = Traffic(service.address, await _open_tenant(service, receiver), soak.seed, pace)
            watch = _Watch(soak, home, service, traffic.began)
            with suppress(TimeoutError):
                async with asyncio.timeout(_FILLING_SECONDS + soak.seconds), asyncio.TaskGroup() as group:
                    for coroutine in (
                        traffic.run(),
                        watch.take_samples(),
                        watch.age_data(),
                        watch.update_corpus(),
                        watch.restart_database(),
                    ):
                        group.create_task(coroutine)
            states = await watch.count_states()
            samples = [sample._replace(at=sample.at - _FILLING_SECONDS) for sample in watch.samples]
            answers = [answer._replace(at=answer.at - _FILLING_SECONDS) for answer in traffic.answers]
            return SoakResult(
                soak.seconds,
                soak.rate,
                [sample for sample in samples if sample.at >= 0],
                [answer for answer in answers if answer.at >= 0],
                receiver,
                watch.update_outcomes,
                states,
                watch.restarts,
                service.starts,
            )


async def _open_tenant(service: Service, receiver: Receiver) -> str:
    """Create a tenant with a webhook, and return its key."""
    async with AsyncClient(service.address, service.key) as operator:
        await operator.tenants.create(TenantBody(id="soak", name="soak", retention_days=_RETENTION_DAYS))
        key = await operator.keys.create(
            KeyBody(
                name="soak",
                tenant="soak",
                scopes=("submit", "read", "manage"),
                requests_per_minute=_REQUESTS_PER_MINUTE,
            )
        )
    async with AsyncClient(service.address, key.secret) as client:
        await client.webhooks.create(WebhookBody(url=receiver.url))
    return key.secret


class _Watch:
    def __init__(self, soak: Soak, home: Path, service: Service, began: float) -> None:
        self._soak, self._home, self._service, self._began = soak, home, service, began
        self.samples: list[Sample] = []
        self.update_outcomes: list[str] = []
        self.restarts = 0

    async def take_samples(self) -> None:
        while True:
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, psutil.Error):
                self.samples.append(await self._take_sample())
            await asyncio.sleep(_SAMPLE_SECONDS)

    async def _take_sample(self) -> Sample:
        database = find_database_server(self._home)
        database_processes = list_process_tree([database.pid]) if database is not None else []
        server_pids = {process.pid for process in database_processes}
        processes = [process for process in list_process_tree(self._service.roots) if process.pid not in server_pids]
        # Parsers of documents and chores start short processes: what lasts is the service itself.
        main_processes = processes[:1]
        connection = await self._connect()
        try:
            tables = await connection.fetch(_TABLES)
            rows = {row["name"]: await connection.fetchval(f"SELECT count(*) FROM {row['name']}") for row in tables}  # noqa: S608
            count = await connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            )
        finally:
            await connection.close()
        return Sample(
            time.monotonic() - self._began,
            count_allocated_bytes(main_processes),
            count_allocated_bytes(database_processes),
            sum(process.num_fds() for process in main_processes),
            sum(process.num_threads() for process in main_processes),
            count - 1,
            rows,
            {row["name"]: row["bytes"] for row in tables},
        )

    async def age_data(self) -> None:
        """Make ended work old, so that the purge deletes it."""
        before = f"now() - interval '{_KEPT_SECONDS:g} seconds'"
        while True:
            await asyncio.sleep(_AGE_SECONDS)
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection = await self._connect()
                try:
                    async with connection.transaction():
                        for statement in _AGE:
                            await connection.execute(statement.format(before=before))
                finally:
                    await connection.close()

    async def update_corpus(self) -> None:
        """Run a nightly update with two new papers and one removed."""
        ingest = self._home / "ingest"
        papers = [json.loads(line) for line in (_EXAMPLES / "corpus.jsonl").read_text("utf-8").splitlines()]
        for number, paper in enumerate(papers[:_UPDATE_COUNT]):
            await asyncio.sleep(_FILLING_SECONDS / (_UPDATE_COUNT + 1))
            await asyncio.to_thread(_write_changes, ingest, number, paper)
            command = (str(_PROGRAM), "corpus", "nightly", str(ingest), "--no-fetch")
            process = await asyncio.create_subprocess_exec(
                *command,
                env=dict(self._service.environment),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            output, _ = await process.communicate()
            self.update_outcomes.append(
                "published" if process.returncode == 0 else output.decode("utf-8", "replace")[-300:]
            )

    async def restart_database(self) -> None:
        """Restart PostgreSQL regularly, as an update of its server would: the service must come back by itself."""
        while self._soak.restart_seconds is not None:
            await asyncio.sleep(self._soak.restart_seconds)
            if (server := await asyncio.to_thread(find_database_server, self._home)) is not None:
                with suppress(psutil.NoSuchProcess):
                    server.send_signal(signal.SIGINT)  # a fast shutdown
                    self.restarts += 1

    async def count_states(self) -> Mapping[str, int]:
        connection = await self._connect()
        try:
            rows = await connection.fetch(f"SELECT state, count(*) FROM jobs WHERE {_NOT_AGED} GROUP BY 1")  # noqa: S608
        finally:
            await connection.close()
        return {row["state"]: row["count"] for row in rows}

    async def _connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        return await asyncpg.connect(await EmbeddedPostgres(self._home / "postgres").ensure(), timeout=30)


def _write_changes(ingest: Path, number: int, paper: dict[str, object]) -> None:
    shutil.rmtree(ingest, ignore_errors=True)
    (ingest / "upserts").mkdir(parents=True)
    with RecordWriter(ingest / "upserts" / "part-00000.parquet") as file:
        for copy in range(2):
            record = paper | {"id": f"soak-{number}-{copy}", "title": f"{paper['title']}, part {number}.{copy}"}
            file.write(PaperRecord.model_validate(record))
    (ingest / "deletions.txt").write_text(f"soak-{number - 1}-0\n")
