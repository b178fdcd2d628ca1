"""Where processes meet to take turns: one text a bucket, changed by whoever read it last."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from assayer.models.remote import SharedText
from assayer.ports import Clock
from workers.remote.bucket import Bucket, Granted, Later, Limits, News, Want

__all__ = ["MemoryTurns", "TurnKeeper", "Turns"]


class Turns(Protocol):
    """Raises StorageError when the store is out of reach."""

    async def look(self, bucket: str) -> SharedText: ...

    async def swap(self, bucket: str, version: int, text: str) -> bool:
        """Writes the text if the bucket still has the version; False when somebody else was quicker."""
        ...


class MemoryTurns:
    """The in-memory twin: for one process that shares its limits with no other."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._texts: dict[str, tuple[int, str]] = {}

    async def look(self, bucket: str) -> SharedText:
        return SharedText(self._clock.now().timestamp(), *self._texts.get(bucket, (0, "")))

    async def swap(self, bucket: str, version: int, text: str) -> bool:
        if self._texts.get(bucket, (0, ""))[0] != version:
            return False
        self._texts[bucket] = (version + 1, text)
        return True


@dataclass(frozen=True)
class TurnKeeper:
    """One bucket in one process. Times in news are this process's monotonic ones."""

    turns: Turns
    bucket: str
    limits: Limits
    clock: Clock

    async def exchange(self, news: Sequence[News], want: Want | None) -> Granted | Later | None:
        """Tells the others what happened here, and asks for a turn; as if both were done at one moment."""
        while True:
            before = self.clock.monotonic()
            shared = await self.turns.look(self.bucket)
            bucket = Bucket.read(shared.text)
            for one in news:
                # The shared clock was read after `before`: what happened here is dated too late, never too early.
                bucket.hear(one._replace(at=shared.now + one.at - before), shared.now, self.limits)
            verdict = bucket.ask(want, shared.now, self.limits) if want else None
            if await self.turns.swap(self.bucket, shared.version, bucket.text()):
                return verdict
