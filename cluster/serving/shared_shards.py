"""Which shards of the corpus fall to a process of a pool that shares all of them."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ray import serve
from ray.serve.handle import DeploymentHandle

from cluster.serving.pool_members import pool_members
from index.shards.rendezvous import shards_of_process

__all__ = ["ShardSharing", "SharedShards"]

_STEADY_SECONDS = 5.0
"""For which the same processes have to be there before shards are opened and closed for them."""
_SHORT_SECONDS = 60.0
"""The same while there are fewer than there should be: Serve is starting the missing ones, and who is left would pull
shards that come to a new process."""
_LET_GO_SECONDS = 300.0
"""After which a shard that fell to another process, and that nobody asks for here any more, is closed."""


class ShardSharing(NamedTuple):
    """How a pool shares the shards of a corpus."""

    shards: int
    """Of the corpus."""
    copies: int
    """Processes that hold each."""
    processes: int
    """The fewest that the pool has once all have started."""


class SharedShards:
    """Which shards fall to this process of a pool. It calls its own pool, so that it hears of the other processes as
    everybody does who calls it."""

    def __init__(self, sharing: ShardSharing, clock: Callable[[], float] = time.monotonic) -> None:
        context = serve.get_replica_context()
        self.name = context.replica_id.unique_id
        self._pool, self._application = context.deployment, context.app_name
        self._sharing, self._clock = sharing, clock
        self._asked: dict[int, float] = {}
        self._known: tuple[str, ...] = ()
        self._since = clock()
        self._calling: DeploymentHandle[Any] | None = None

    async def mine(self) -> list[int]:
        """Empty while it is not clear who the others are: they start one after the other, and the first would open all.
        Who is asked for a shard opens it meanwhile."""
        if self._calling is None:
            self._calling = serve.get_deployment_handle(self._pool, self._application)
            self._first_call = asyncio.create_task(_called(self._calling))
        return self._falling_here() if self._steady() else []

    def note_asked(self, number: int) -> None:
        self._asked[number] = self._clock()

    def let_go(self, held: Iterable[int]) -> list[int]:
        """Shards that are no more of this process, and that nobody has asked for in a while."""
        if not self._steady():
            return []
        mine = self._falling_here()
        last = self._clock() - _LET_GO_SECONDS
        return [one for one in held if one not in mine and self._asked.get(one, -math.inf) < last]

    def _falling_here(self) -> list[int]:
        processes = {self.name, *pool_members(self._pool)}
        return shards_of_process(self.name, self._sharing.shards, processes, self._sharing.copies)

    def _steady(self) -> bool:
        """Whether the same processes have been there for a while."""
        known, now = pool_members(self._pool), self._clock()
        if known != self._known:
            self._known, self._since = known, now
        complete = len(known) >= self._sharing.processes
        return bool(known) and now - self._since >= (_STEADY_SECONDS if complete else _SHORT_SECONDS)


async def _called(pool: DeploymentHandle[Any]) -> None:
    """A handle hears of the processes from its first call on."""
    await pool.options(method_name="held").remote()
