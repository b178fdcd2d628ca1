"""Serves the corpus from pools on the running Ray, one per shard, without the rest of the service."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ray import serve
from ray.serve import Application

from assayer.ports import Embedder
from cluster.serving.index_pool import IndexReplica, PooledCorpora
from cluster.serving.pool_client import PoolClient
from cluster.serving.replica import ReplicaConfig
from cluster.serving.shard_router import configure_shard_routing
from cluster.serving.shared_shards import ShardSharing

_CALL_SECONDS, _PATIENCE_SECONDS, _ROUTING_SECONDS = 30.0, 60.0, 0.5


@asynccontextmanager
async def serve_pools(
    directory: Path,
    shards: int,
    embedder: Embedder,
    replicas: int = 1,
    copies: int | None = None,
    variables: Mapping[str, str] | None = None,
) -> AsyncIterator[PooledCorpora]:
    """Serve the corpus in a directory from pools; `shards` is 0 if the corpus has none.

    If `copies` is set, a single pool shares all shards. The processes get `variables` in addition to their
    environment."""
    environment = {"ASSAYER_CORPUS__PATH": str(directory), **(variables or {})}
    actor_options = {"num_cpus": 0.05, "runtime_env": {"env_vars": environment}}
    options: dict[str, Any] = {
        "num_replicas": replicas,
        "ray_actor_options": actor_options,
        "health_check_period_s": 1.0,
    }
    count, base_name = max(1, shards), directory.parent.name
    names = [f"{base_name}-{number}" for number in range(count)] if copies is None else [base_name]
    try:
        if copies is None:
            callers = [
                _create_client(name, serve.deployment(name=name, **options)(IndexReplica).bind(ReplicaConfig(), number))
                for number, name in enumerate(names)
            ]
        else:
            options["request_router_config"] = configure_shard_routing(copies, _ROUTING_SECONDS)
            shared_pool = serve.deployment(name=base_name, **options)(IndexReplica)
            callers = [
                _create_client(base_name, shared_pool.bind(ReplicaConfig(), 0, ShardSharing(count, copies, replicas)))
            ] * count
        yield PooledCorpora(callers, directory, embedder)
    finally:
        for name in names:
            serve.delete(name)


def _create_client(name: str, pool: Application) -> PoolClient[IndexReplica]:
    return PoolClient(serve.run(pool, name=name, route_prefix=None), _CALL_SECONDS, _PATIENCE_SECONDS)
