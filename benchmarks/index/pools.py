"""The corpus in pools on the Ray that runs, one for each shard, without the rest of the service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ray import serve

from assayer.ports import Embedder
from cluster.serving.index_pool import IndexReplica, PooledCorpora
from cluster.serving.pool_client import PoolClient
from cluster.serving.replica import ReplicaConfig

__all__ = ["pools"]

_CALL_SECONDS, _PATIENCE_SECONDS = 30.0, 60.0


@asynccontextmanager
async def pools(directory: Path, shards: int, embedder: Embedder, replicas: int = 1) -> AsyncIterator[PooledCorpora]:
    """Of the corpus in a directory; `shards` is 0 where there are none."""
    options = {"num_cpus": 0.05, "runtime_env": {"env_vars": {"ASSAYER_CORPUS__PATH": str(directory)}}}
    names = [f"{directory.parent.name}-{number}" for number in range(max(1, shards))]
    try:
        callers = []
        for number, name in enumerate(names):
            deployment = serve.deployment(
                name=name, num_replicas=replicas, ray_actor_options=options, health_check_period_s=1.0
            )(IndexReplica)
            handle = serve.run(deployment.bind(ReplicaConfig(), number), name=name, route_prefix=None)
            callers.append(PoolClient(handle, _CALL_SECONDS, _PATIENCE_SECONDS))
        yield PooledCorpora(callers, directory, embedder)
    finally:
        for name in names:
            serve.delete(name)
