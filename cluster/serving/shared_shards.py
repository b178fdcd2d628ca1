"""Assignment of corpus shards to the processes of a pool that shares all of them."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ray import serve
from ray.serve.handle import DeploymentHandle

from cluster.serving.pool_members import pool_members
from index.shards.rendezvous import shards_of_process

_STEADY_SECONDS = 5.0
"""Seconds for which the set of processes must be unchanged before shards are opened and closed for it."""
_SHORT_SECONDS = 60.0
"""Seconds for which the set of processes must be unchanged while processes are missing. Serve is then starting the
missing processes, and the others would pull shards that belong to a new process."""
_LET_GO_SECONDS = 300.0
"""Seconds after which a shard is closed here if it was reassigned to another process and is no longer requested."""


class ShardSharing(NamedTuple):
    """Distribution of the shards of a corpus over a pool."""

    shards: int
    """Number of shards in the corpus."""
    copies: int
    """Number of processes that hold each shard."""
    processes: int
    """Minimum number of processes of the pool once all have started."""


class SharedShards:
    """Shards assigned to this process of a pool. The process calls its own pool, so that it learns about the other
    processes as any caller does."""

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
        """Return the shards of this process; empty while the set of processes is still changing, because otherwise the
        first of several starting processes would open all shards. A shard requested in the meantime is opened on
        demand."""
        if self._calling is None:
            self._calling = serve.get_deployment_handle(self._pool, self._application)
            self._first_call = asyncio.create_task(_called(self._calling))
        return self._falling_here() if self._steady() else []

    def note_asked(self, number: int) -> None:
        self._asked[number] = self._clock()

    def let_go(self, held: Iterable[int]) -> list[int]:
        """Return the open shards to release: those no longer assigned to this process and not requested for a while."""
        if not self._steady():
            return []
        mine = self._falling_here()
        last = self._clock() - _LET_GO_SECONDS
        return [item for item in held if item not in mine and self._asked.get(item, -math.inf) < last]

    def _falling_here(self) -> list[int]:
        processes = {self.name, *pool_members(self._pool)}
        return shards_of_process(self.name, self._sharing.shards, processes, self._sharing.copies)

    def _steady(self) -> bool:
        """Return whether the set of processes has been unchanged for a while."""
        known, now = pool_members(self._pool), self._clock()
        if known != self._known:
            self._known, self._since = known, now
        complete = len(known) >= self._sharing.processes
        return bool(known) and now - self._since >= (_STEADY_SECONDS if complete else _SHORT_SECONDS)


async def _called(pool: DeploymentHandle[Any]) -> None:
    """Call the pool once, because a handle learns about the processes only from its first call on."""
    await pool.options(method_name="held").remote()
