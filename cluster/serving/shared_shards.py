"""Assignment of corpus shards to the processes in a pool that shares all of them."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ray import serve
from ray.serve.handle import DeploymentHandle

from cluster.serving.pool_members import pool_members
from index.shards.rendezvous import list_shards_of_process

_STABLE_SECONDS = 5.0
"""Seconds for which the set of processes must be unchanged before shards are opened and closed to match it."""
_INCOMPLETE_SECONDS = 60.0
"""Replaces `_STABLE_SECONDS` while processes are missing. It is longer because Serve is starting them, and others would
otherwise pull shards that are about to be assigned to a new process."""
_LET_GO_SECONDS = 300.0
"""Seconds without requests after which this process closes a shard that is assigned to another process."""


class ShardSharing(NamedTuple):
    """Distribution of a corpus's shards over a pool."""

    shards: int
    """Number of shards in the corpus."""
    copies: int
    """Number of processes that hold each shard."""
    processes: int
    """Minimum number of processes in the pool once all have started."""


class SharedShards:
    """Shards assigned to this process. It calls its own pool once, because only callers are told about a pool's
    processes."""

    def __init__(self, sharing: ShardSharing, clock: Callable[[], float] = time.monotonic) -> None:
        context = serve.get_replica_context()
        self.name = context.replica_id.unique_id
        self._pool, self._application = context.deployment, context.app_name
        self._sharing, self._clock = sharing, clock
        self._last_request_times: dict[int, float] = {}
        self._known_members: tuple[str, ...] = ()
        self._members_since = clock()
        self._own_pool: DeploymentHandle[Any] | None = None

    async def list_assigned_shards(self) -> list[int]:
        """Return the shards assigned to this process. Returns an empty list while the set of processes is still
        changing, because the first of several starting processes would otherwise open all shards. Shards are also
        opened on demand."""
        if self._own_pool is None:
            self._own_pool = serve.get_deployment_handle(self._pool, self._application)
            self._first_call = asyncio.create_task(_call_once(self._own_pool))
        return self._list_assigned() if self._is_stable() else []

    def note_asked(self, number: int) -> None:
        self._last_request_times[number] = self._clock()

    def choose_shards_to_close(self, open_shards: Iterable[int]) -> list[int]:
        """Return the open shards to close: those assigned only to other processes and not requested for a while."""
        if not self._is_stable():
            return []
        assigned_shards = self._list_assigned()
        close_before = self._clock() - _LET_GO_SECONDS
        return [
            shard
            for shard in open_shards
            if shard not in assigned_shards and self._last_request_times.get(shard, -math.inf) < close_before
        ]

    def _list_assigned(self) -> list[int]:
        processes = {self.name, *pool_members(self._pool)}
        return list_shards_of_process(self.name, self._sharing.shards, processes, self._sharing.copies)

    def _is_stable(self) -> bool:
        """Return whether the set of processes has been unchanged for a while."""
        members, now = pool_members(self._pool), self._clock()
        if members != self._known_members:
            self._known_members, self._members_since = members, now
        complete = len(members) >= self._sharing.processes
        return bool(members) and now - self._members_since >= (_STABLE_SECONDS if complete else _INCOMPLETE_SECONDS)


async def _call_once(pool: DeploymentHandle[Any]) -> None:
    """Call the pool, because a handle learns about the pool's processes only with its first call."""
    await pool.options(method_name="list_held_shards").remote()
