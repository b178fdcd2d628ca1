"""The one door as one run uses it: every answer is counted in the run's journal."""

from dataclasses import dataclass

from assayer.journal import Journal
from workers.remote.call import Ask, Call, Remote, Reply

__all__ = ["Journalled"]


@dataclass(frozen=True)
class Journalled:
    """Implements Remote. How much an answer held, and that there was none, is told by whoever reads it."""

    remote: Remote
    journal: Journal

    async def fetch(self, call: Call, ask: Ask) -> Reply:
        reply = await self.remote.fetch(call, ask)
        self.journal.use(call.source, call.operation, requests=1, cached=int(reply.cached))
        return reply
