"""The dispatcher as a process: hands leased jobs to evaluators wherever they run."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from ray import serve
from ray.exceptions import RayError
from ray.serve.exceptions import RayServeException
from ray.serve.handle import DeploymentHandle

from assayer.errors import PartUnavailable
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.service import DispatchService, open_dispatch_service, process_name
from cluster.serving.evaluator_pool import EvaluatorReplica
from cluster.serving.pool_client import PoolClient, PoolFull
from cluster.serving.replica import BackgroundContext, Replica, ReplicaConfig, background_task, ensure_running
from cluster.settings import Settings
from orchestrator.execution.ports import Capacity, LeaseOutcome
from orchestrator.jobs.models import Lease
from orchestrator.store import NotificationListener, PgLeases

__all__ = ["DispatcherReplica", "PooledEvaluators"]

_JOB_SECONDS = 86_400.0
"""No job takes a day; its lease and its own deadlines end it long before."""
_COUNT_SECONDS = 2.0
"""How long a count of evaluators is believed."""
_PAUSE_SECONDS = 1.0
"""Before a job that is given back on the way out may be begun elsewhere: a pause says that nothing was lost."""


class PooledEvaluators:
    """Implements orchestrator.execution.ports.WorkerPool over a pool that may grow and shrink."""

    def __init__(self, pool: PoolClient[EvaluatorReplica], places: int) -> None:
        self._pool = pool
        self._places = places
        self._counted = (0, float("-inf"))
        self._in_hand: dict[UUID, Lease] = {}

    @property
    def in_hand(self) -> Sequence[Lease]:
        return tuple(self._in_hand.values())

    async def capacity(self) -> Capacity:
        """What an earlier dispatcher handed out is not known here: an evaluator that is full refuses."""
        return Capacity(self._places * await self._running(), len(self._in_hand))

    async def perform(self, lease: Lease) -> LeaseOutcome:
        self._in_hand[lease.token] = lease
        try:
            return await self._pool.once(EvaluatorReplica.perform, lease)
        except PoolFull:
            return "refused"
        finally:
            del self._in_hand[lease.token]

    async def _running(self) -> int:
        count, at = self._counted
        if time.monotonic() - at > _COUNT_SECONDS:
            handle = self._pool.handle
            count = await asyncio.to_thread(_count_running, handle.app_name, handle.deployment_name)
            self._counted = (count, time.monotonic())
        return count


def _count_running(app: str, deployment: str) -> int:
    """Processes of a pool that take calls, as the controller knows. Raises PartUnavailable."""
    try:
        states = serve.status().applications[app].deployments[deployment].replica_states
    except (RayError, RayServeException, KeyError) as error:
        raise PartUnavailable(f"The controller of the pools cannot be asked: {error!r}.") from None
    return sum(count for state, count in states.items() if state == "RUNNING")


@dataclass(frozen=True)
class _DispatcherContext:
    dispatching: DispatchService
    evaluators: PooledEvaluators
    leases: PgLeases
    working: "asyncio.Task[None]"


class DispatcherReplica(Replica):
    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self, config: ReplicaConfig, evaluator: DeploymentHandle[EvaluatorReplica]
    ) -> None:
        settings = self.begin(config)
        pool = PoolClient(evaluator, _JOB_SECONDS, settings.serving.patience_seconds)
        self._context = await BackgroundContext.open(
            _open_dispatcher(settings, PooledEvaluators(pool, settings.serving.evaluator.ongoing))
        )

    async def drain(self, seconds: float) -> None:
        """Leases nothing more, waits that long for what was handed out, and gives the rest back into the queue."""
        context = self._context.value
        await context.dispatching.drain(seconds)
        for lease in context.evaluators.in_hand:
            why = "The service was told to stop."
            await context.leases.give_back(lease, why, attempt_failed=False, after_seconds=_PAUSE_SECONDS)

    async def check_health(self) -> None:
        ensure_running(self._context.task, "The dispatcher")
        ensure_running(self._context.value.working, "Dispatching")

    async def __del__(self) -> None:
        await self._context.close()


@asynccontextmanager
async def _open_dispatcher(settings: Settings, evaluators: PooledEvaluators) -> AsyncIterator[_DispatcherContext]:
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        listener = await stack.enter_async_context(NotificationListener(database))
        opening = open_dispatch_service(process_name(), settings, database, listener, evaluators, clock)
        dispatching = await stack.enter_async_context(opening)
        working = await stack.enter_async_context(background_task(dispatching.run()))
        yield _DispatcherContext(dispatching, evaluators, PgLeases(database, settings.queue), working)
