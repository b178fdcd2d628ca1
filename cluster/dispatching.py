"""The half of the service that hands out work and tells how it ended: dispatcher, chores and webhooks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from assayer.ports import Clock
from cluster.settings import Settings
from cluster.tracing import tracing
from cluster.webhooks import open_deliverer, renew_seals, seal_of
from orchestrator.store import Database, Heard, Listener, Missed, PgJobs, PgLeases
from orchestrator.store.webhooks import PgWebhooks
from orchestrator.webhooks.deliverer import Deliverer
from orchestrator.work.dispatcher import Chore, Dispatcher
from orchestrator.work.ports import Evaluators

__all__ = ["Dispatching", "open_dispatching"]


@dataclass(frozen=True)
class Dispatching:
    dispatcher: Dispatcher
    deliverer: Deliverer

    async def run(self) -> None:
        """Until it is cancelled; `drain` first."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.dispatcher.run())
            group.create_task(self.deliverer.run())

    async def drain(self, seconds: float) -> None:
        await self.dispatcher.drain(seconds)


@asynccontextmanager
async def open_dispatching(
    name: str, settings: Settings, database: Database, listener: Listener, evaluators: Evaluators, clock: Clock
) -> AsyncIterator[Dispatching]:
    jobs, outbox, seal = PgJobs(database), PgWebhooks(database), seal_of(settings)
    await renew_seals(outbox, seal)
    purge = Chore("delete what is kept no longer", settings.work.purge_seconds, lambda: jobs.purge(clock.now()))
    with tracing(database) as traces:
        dispatcher = Dispatcher(
            name=name,
            leases=PgLeases(database, settings.queue),
            evaluators=evaluators,
            listener=listener,
            settings=settings.work,
            lease_seconds=settings.queue.lease_seconds,
            clock=clock,
            chores=(purge, *traces),
        )
        async with (
            listener.on("assayer_jobs") as heard,
            open_deliverer(settings.webhooks, outbox, seal, _Endings(heard), clock) as deliverer,
        ):
            yield Dispatching(dispatcher, deliverer)


@dataclass(frozen=True)
class _Endings:
    """Wakes whoever delivers when a job has ended."""

    heard: Heard

    async def next(self, timeout: float) -> str | None:
        try:
            async with asyncio.timeout(timeout):
                while (said := await self.heard.next(timeout)) == "queued":
                    continue
        except TimeoutError:
            return None
        return None if isinstance(said, Missed) else said
