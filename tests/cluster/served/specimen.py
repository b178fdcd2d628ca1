"""Pool whose behaviour a test controls."""

import asyncio
import os
from collections import Counter

from assayer.errors import AssayerError
from assayer.run.context_variables import is_urgent
from cluster.serving.replica import Replica
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure


class Specimen(Replica):
    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    async def echo(self, text: str) -> str:
        self._seen["echo"] += 1
        return text

    async def fail(self, error: AssayerError | TransientLlmFailure | PermanentLlmFailure) -> None:
        raise error

    async def wait(self) -> None:
        """Wait until the call is cancelled, and count it."""
        self._seen["waiting"] += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self._seen["cancelled"] += 1
            raise

    async def waited_for(self) -> bool:
        return is_urgent()

    async def seen(self, name: str) -> int:
        return self._seen[name]

    async def pid(self) -> int:
        return os.getpid()
