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
from cluster.dispatching import Dispatching, open_dispatching
from cluster.service import process_name
from cluster.serving.attending import attended, check_on
from cluster.serving.calling import Caller, Full
from cluster.serving.evaluator import EvaluatorReplica
from cluster.serving.holding import Holding
from cluster.serving.replica import Replica
from cluster.serving.where import Where
from cluster.settings import Settings
from orchestrator.jobs.models import Lease
from orchestrator.store import Listener, PgLeases
from orchestrator.work.ports import Capacity, Handed

__all__ = ["DispatcherReplica", "ServedEvaluators"]

_JOB_SECONDS = 86_400.0
"""No job takes a day; its lease and its own deadlines end it long before."""
_COUNT_SECONDS = 2.0
"""How long a count of evaluators is believed."""
_PAUSE_SECONDS = 1.0
"""Before a job that is given back on the way out may be begun elsewhere: a pause says that nothing was lost."""


class ServedEvaluators:
    """Implements orchestrator.work.ports.Evaluators over a pool that may grow and shrink."""

    def __init__(self, caller: Caller[EvaluatorReplica], places: int) -> None:
        self._caller = caller
        self._places = places
        self._counted = (0, float("-inf"))
        self._in_hand: dict[UUID, Lease] = {}

    @property
    def in_hand(self) -> Sequence[Lease]:
        return tuple(self._in_hand.values())

    async def capacity(self) -> Capacity:
        """What an earlier dispatcher handed out is not known here: an evaluator that is full refuses."""
        return Capacity(self._places * await self._running(), len(self._in_hand))

    async def hand(self, lease: Lease) -> Handed:
        self._in_hand[lease.token] = lease
        try:
            return await self._caller.once(EvaluatorReplica.perform, lease)
        except Full:
            return "refused"
        finally:
            del self._in_hand[lease.token]

    async def _running(self) -> int:
        count, at = self._counted
        if time.monotonic() - at > _COUNT_SECONDS:
            handle = self._caller.handle
            count = await asyncio.to_thread(_running, handle.app_name, handle.deployment_name)
            self._counted = (count, time.monotonic())
        return count


def _running(app: str, deployment: str) -> int:
    """Processes of a pool that take calls, as the controller knows. Raises PartUnavailable."""
    try:
        states = serve.status().applications[app].deployments[deployment].replica_states
    except (RayError, RayServeException, KeyError) as error:
        raise PartUnavailable(f"The controller of the pools cannot be asked: {error!r}.") from None
    return sum(count for state, count in states.items() if state == "RUNNING")


@dataclass(frozen=True)
class _Office:
    dispatching: Dispatching
    evaluators: ServedEvaluators
    leases: PgLeases
    working: "asyncio.Task[None]"


class DispatcherReplica(Replica):
    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self, where: Where, evaluator: DeploymentHandle[EvaluatorReplica]
    ) -> None:
        settings = self.begin(where)
        caller = Caller(evaluator, _JOB_SECONDS, settings.serving.patience_seconds)
        self._office = await Holding.open(
            _office(settings, ServedEvaluators(caller, settings.serving.evaluator.ongoing))
        )

    async def drain(self, seconds: float) -> None:
        """Leases nothing more, waits that long for what was handed out, and gives the rest back into the queue."""
        office = self._office.value
        await office.dispatching.drain(seconds)
        for lease in office.evaluators.in_hand:
            why = "The service was told to stop."
            await office.leases.give_back(lease, why, blame=False, after_seconds=_PAUSE_SECONDS)

    async def check_health(self) -> None:
        check_on(self._office.task, "The dispatcher")
        check_on(self._office.value.working, "Dispatching")

    async def __del__(self) -> None:
        await self._office.close()


@asynccontextmanager
async def _office(settings: Settings, evaluators: ServedEvaluators) -> AsyncIterator[_Office]:
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        listener = await stack.enter_async_context(Listener(database))
        opening = open_dispatching(process_name(), settings, database, listener, evaluators, clock)
        dispatching = await stack.enter_async_context(opening)
        working = await stack.enter_async_context(attended(dispatching.run()))
        yield _Office(dispatching, evaluators, PgLeases(database, settings.queue), working)
