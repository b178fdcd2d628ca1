"""Router that sends each call to a process that holds the shard. Serve runs it in every process that calls the index
pool."""

from collections.abc import Sequence
from typing import Any

from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica

from cluster.serving.pool_members import note_pool_members
from cluster.serving.replica import Replica
from index.shards.rendezvous import order_by_rendezvous

OPEN_SHARDS = "open_shards"
"""Key in a process's routing statistics whose value lists the shards that it has open in their newest version."""


class ShardRouter(RequestRouter):
    """Router for calls whose first argument is a shard number. It prefers processes that have the shard open to those
    to which it is only assigned. Among these, Serve chooses the least busy one."""

    def initialize_state(self, copies: int = 1) -> None:  # type: ignore[override]  # of any keywords there
        self._copies = copies

    def update_replicas(self, replicas: list[RunningReplica]) -> None:
        super().update_replicas(replicas)
        note_pool_members(self._deployment_id.name, [replica.replica_id.unique_id for replica in replicas])

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        shard = _get_requested_shard(pending_request)
        if shard is None:
            return [candidate_replicas]
        replicas_by_id = {
            candidate_replica.replica_id.unique_id: candidate_replica for candidate_replica in candidate_replicas
        }
        assigned_replicas = [
            replicas_by_id[name] for name in order_by_rendezvous(shard, replicas_by_id)[: self._copies]
        ]
        replicas_with_shard = [
            replica for replica in assigned_replicas if shard in replica.routing_stats.get(OPEN_SHARDS, ())
        ]
        return [
            group
            for group in (
                replicas_with_shard,
                [replica for replica in assigned_replicas if replica not in replicas_with_shard],
            )
            if group
        ]


def configure_shard_routing(copies: int, look_seconds: float) -> dict[str, Any]:
    """Return the `request_router_config` for a pool that shares all shards. Each shard is held by `copies` processes,
    and Serve asks them every `look_seconds` which shards they have open."""
    return {
        "request_router_class": ShardRouter,
        "request_router_kwargs": {"copies": copies},
        "request_routing_stats_period_s": look_seconds,
    }


def _get_requested_shard(request: PendingRequest | None) -> int | None:
    if request is None:
        return None
    args: Sequence[Any] = request.args
    if request.metadata.call_method == Replica.urgently.__name__:
        args = args[1:]
    return args[0] if args and isinstance(args[0], int) else None
