"""The evaluators of a service in one process: its only worker."""

from dataclasses import dataclass

from orchestrator.jobs.models import Lease
from orchestrator.work.ports import Capacity, Handed
from orchestrator.work.worker import Worker

__all__ = ["LocalEvaluators"]


@dataclass(frozen=True)
class LocalEvaluators:
    worker: Worker

    async def capacity(self) -> Capacity:
        return self.worker.capacity

    async def hand(self, lease: Lease) -> Handed:
        return await self.worker.perform(lease)
