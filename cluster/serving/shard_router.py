"""Sends a call to a process that holds its shard: Serve asks this in every process that calls the pool of the index."""

from collections.abc import Sequence
from typing import Any

from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica

from cluster.serving.pool_members import note_pool_members
from cluster.serving.replica import Replica
from index.shards.rendezvous import rendezvous_order

__all__ = ["OPEN_SHARDS", "ShardRouter", "shard_routing"]

OPEN_SHARDS = "open_shards"
"""In a process's routing statistics: the shards of which it has the newest version open."""


class ShardRouter(RequestRouter):
    """The first argument of every call is the number of a shard. Among the processes that hold it, those that have it
    open come first; the least busy of these is taken."""

    def initialize_state(self, copies: int = 1) -> None:  # type: ignore[override]  # of any keywords there
        self._copies = copies

    def update_replicas(self, replicas: list[RunningReplica]) -> None:
        super().update_replicas(replicas)
        note_pool_members(self._deployment_id.name, [one.replica_id.unique_id for one in replicas])

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        shard = _shard_asked(pending_request)
        if shard is None:
            return [candidate_replicas]
        known = {one.replica_id.unique_id: one for one in candidate_replicas}
        holding = [known[one] for one in rendezvous_order(shard, known)[: self._copies]]
        opened = [one for one in holding if shard in one.routing_stats.get(OPEN_SHARDS, ())]
        return [some for some in (opened, [one for one in holding if one not in opened]) if some]


def shard_routing(copies: int, look_seconds: float) -> dict[str, Any]:
    """`request_router_config` of a pool that shares all shards: so many processes hold each; Serve asks them as often
    which they have open."""
    return {
        "request_router_class": ShardRouter,
        "request_router_kwargs": {"copies": copies},
        "request_routing_stats_period_s": look_seconds,
    }


def _shard_asked(pending: PendingRequest | None) -> int | None:
    if pending is None:
        return None
    args: Sequence[Any] = pending.args
    if pending.metadata.call_method == Replica.urgently.__name__:
        args = args[1:]
    return args[0] if args and isinstance(args[0], int) else None
