"""The whole service with its HTTP server and worker, in this process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

from assayer.ideas.parsing import parse_idea
from cluster.engine_components import SharedComponents
from cluster.http_server import serve_http
from cluster.listening import open_listening_socket
from cluster.service import Service, create_first_key, open_service
from cluster.settings import Settings
from cluster.submitted_documents import open_documents
from orchestrator.jobs.models import Job, JobId, JobRequest, TenantId
from orchestrator.jobs.submissions import NewJob
from orchestrator.store import PgJobs
from orchestrator.store.documents import PgDocuments
from simulator.process import Simulator
from tests.contract.service.caller import Caller
from tests.polling import wait_until_async
from workers.embedding.hashing_embedder import HashingEmbedder

PARTS = SharedComponents(embedder=HashingEmbedder())
"""A quick embedder without torch, as these tests do not depend on the quality of search."""
TENANT = TenantId("default")
BEES = parse_idea(
    "We count wild bees along hedgerows over three summers and compare farms with and without flower strips, to learn "
    "whether nests or nectar limit their number on farmland.",
    "bees.txt",
)
MOTHS = parse_idea(
    "We darken every second street lamp along road verges for two summers and count moths on both kinds of stretches, "
    "to learn whether light or mowing limits their number.",
    "moths.txt",
)


def count_answered_requests(simulator: Simulator) -> Callable[[], Awaitable[int]]:
    """Return a function that counts the requests that the simulator has answered."""

    async def count() -> int:
        return (await asyncio.to_thread(simulator.read_stats)).answered

    return count


def count_sent_requests(simulator: Simulator) -> Callable[[], Awaitable[int]]:
    """Return a function that counts the requests that the simulator has received."""

    async def count() -> int:
        return (await asyncio.to_thread(simulator.read_stats)).requests

    return count


class RunningService:
    """A service, an HTTP client of it and its job store."""

    def __init__(self, service: Service, caller: Caller, documents: PgDocuments | None) -> None:
        self.service = service
        self.caller = caller
        self.jobs = PgJobs(service.database, documents=documents)

    async def count_running_jobs(self) -> int:
        """Return the number of jobs that the worker is running."""
        return self.service.evaluator.worker.running_count

    async def run_job(self, work: JobRequest, document: bytes | None = None) -> Job:
        """Add a job to the store and return it when it has ended."""
        id = JobId(f"job_{uuid4().hex}")
        await self.jobs.add(TENANT, [NewJob(id=id, request=work, subject="", priority="batch", document=document)])
        ended_job = await wait_until_async(
            lambda: self.jobs.get(TENANT, id), lambda job: job is not None and job.finished_at is not None
        )
        assert ended_job is not None
        return ended_job


@asynccontextmanager
async def run_service(settings: Settings, key: str | None = None) -> AsyncIterator[RunningService]:
    """Run the service until the block ends; its caller has this key, or the first one."""
    async with open_service(settings, PARTS) as service:
        key = key or await create_first_key(service.database)
        assert key is not None
        with open_listening_socket("127.0.0.1", 0) as listener:
            server_task = asyncio.create_task(serve_http(service.app, listener, service.run, lambda: service.drain(0)))
            caller = Caller.connect_to(f"http://127.0.0.1:{listener.getsockname()[1]}", key)
            try:
                async with caller.client:
                    yield RunningService(service, caller, open_documents(settings, service.database))
            finally:
                server_task.cancel()
                await asyncio.gather(server_task, return_exceptions=True)
