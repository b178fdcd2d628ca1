"""A pool that does what a test tells it to."""

import asyncio
import os
from collections import Counter

from assayer.errors import AssayerError
from assayer.urgency import somebody_waits
from cluster.serving.replica import Replica
from workers.llm.failures import PermanentFailure, TransientFailure

__all__ = ["Specimen"]


class Specimen(Replica):
    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    async def echo(self, text: str) -> str:
        self._seen["echo"] += 1
        return text

    async def fail(self, error: AssayerError | TransientFailure | PermanentFailure) -> None:
        raise error

    async def wait(self) -> None:
        """Until it is cancelled."""
        self._seen["waiting"] += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self._seen["cancelled"] += 1
            raise

    async def waited_for(self) -> bool:
        return somebody_waits()

    async def seen(self, what: str) -> int:
        return self._seen[what]

    async def pid(self) -> int:
        return os.getpid()
