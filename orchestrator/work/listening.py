"""What worker and dispatcher do when they hear what others committed."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from orchestrator.jobs.models import JobId
from orchestrator.store.listening import Channel, Heard, Missed

__all__ = ["Hears", "Heeds", "heed"]

_LOOK_SECONDS = 60.0
"""Only so that waiting has an end; what was missed is told as such."""


class Hears(Protocol):
    def on(self, channel: Channel) -> AbstractAsyncContextManager[Heard]: ...


class Heeds(Protocol):
    def queued(self) -> None: ...

    def cancelled(self, job: JobId) -> None: ...

    def missed(self) -> None:
        """Something may have been said that was not heard."""
        ...


async def heed(listener: Hears, who: Heeds) -> None:
    """Until it is cancelled."""
    async with listener.on("assayer_jobs") as heard:
        while True:
            said = await heard.next(_LOOK_SECONDS)
            if isinstance(said, Missed):
                who.missed()
            elif said == "queued":
                who.queued()
            elif said is not None and said.startswith("cancelled "):
                who.cancelled(JobId(said.removeprefix("cancelled ")))
