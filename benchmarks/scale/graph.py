"""How the graph itself scales: evaluators, embedders and indexes that do nothing, on a Ray of this machine.

python -m benchmarks.scale.graph
python -m benchmarks.scale.graph --replicas 1 2 4 8 --seconds 10

The evaluators call the two others as the service does (`cluster.serving.pool_client`), one call for every answer of
another, many ideas at once; embedder and index answer with vectors and hits of the usual size. What is left is what the
graph costs: calls a second, processor time a call at both ends, memory of a process that has nothing in it, and what
Serve's controller does.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import psutil

from benchmarks.chaos.processes import replicas
from benchmarks.throughput.machine import machine
from cluster.ray_cluster import private_environment

__all__ = ["Measured", "main"]

_NAME = "graph"
_DIMENSIONS = 384
_TEXTS, _HITS = 4, 20
_TEXT = "How does the density of flower strips along field margins change what bees carry home in a dry summer?"
_OBJECT_STORE = 128 * 2**20
_IDEAS_AT_ONCE = 32
"""Of one evaluator, as in deploy/serve/cpu-cluster.yaml."""


class Measured(NamedTuple):
    """Of so many processes of each of the three kinds."""

    replicas: int
    calls_a_second: float
    cpu_ms_a_call: float
    """Of callers and called together."""
    evaluator_cpu_ms_a_call: float
    answer_ms: float
    """Median of a call, among all the others."""
    replica_mb: float
    """Proportional set size, mean of all replicas."""
    controller_ms: float
    """Of its processor, a second, while they work."""
    idle_controller_ms: float
    """While nobody asks anything."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale.graph",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 4], help="of each of the three pools")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    options = parser.parse_args()
    print(f"Machine: {machine()}; load {psutil.getloadavg()[0]:.1f}", flush=True)
    with _cluster(max(options.replicas)):
        for count in options.replicas:
            print(json.dumps(measure(count, options.seconds)._asdict()), flush=True)
    print(f"load {psutil.getloadavg()[0]:.1f}")


@contextmanager
def _cluster(most: int) -> Iterator[None]:
    with private_environment() as folder:
        import ray

        ray.init(
            num_cpus=3 * most + 1,
            object_store_memory=_OBJECT_STORE,
            include_dashboard=False,
            log_to_driver=False,
            _temp_dir=str(folder),
            _system_config={"enable_worker_prestart": False},
        )
        try:
            yield
        finally:
            ray.shutdown()


def measure(count: int, seconds: float) -> Measured:
    """Within a cluster."""
    from ray import serve

    serve.start(proxy_location="Disabled", logging_config={"log_level": "WARNING", "enable_access_log": False})
    handle = serve.run(_application(count), name=_NAME, route_prefix=None)
    try:
        return asyncio.run(_measured(handle, count, seconds))
    finally:
        serve.delete(_NAME)


def _application(count: int) -> Any:
    from ray import serve

    def deployed(kind: type[Any], name: str) -> Any:
        return serve.deployment(
            name=name,
            num_replicas=count,
            max_ongoing_requests=1024,
            ray_actor_options={"num_cpus": 1},
            logging_config={"enable_access_log": False},
        )(kind)

    embedder = deployed(StubEmbedder, "stub_embedder").bind()
    index = deployed(StubIndex, "stub_index").bind()
    return deployed(StubEvaluator, "stub_evaluator").bind(embedder, index)


class StubEmbedder:
    async def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.zeros((len(texts), _DIMENSIONS), np.float32)


class StubIndex:
    async def search(self, vectors: np.ndarray[Any, np.dtype[np.float32]]) -> list[list[tuple[str, float]]]:
        return [[(f"paper-{number}", 1.0) for number in range(_HITS)] for _ in vectors]


class StubEvaluator:
    """An idea: an embedding and a search, again and again."""

    def __init__(self, embedder: Any, index: Any) -> None:
        from cluster.serving.pool_client import PoolClient

        self._embedder: PoolClient[StubEmbedder] = PoolClient(embedder, 30.0, 60.0)
        self._index: PoolClient[StubIndex] = PoolClient(index, 30.0, 60.0)

    async def work(self, ideas: int, seconds: float) -> list[float]:
        """How long each call took, in seconds."""
        until = time.monotonic() + seconds
        took: list[float] = []

        async def idea() -> None:
            while time.monotonic() < until:
                began = time.monotonic()
                vectors = await self._embedder.ask(StubEmbedder.embed, [_TEXT] * _TEXTS)
                middle = time.monotonic()
                await self._index.ask(StubIndex.search, vectors)
                took.extend((middle - began, time.monotonic() - middle))

        await asyncio.gather(*(idea() for _ in range(ideas)))
        return took


async def _measured(handle: Any, count: int, seconds: float) -> Measured:
    await _work(handle, count, 1.0)  # connections are made, code is compiled
    root = psutil.Process().pid
    evaluators = replicas([root], "stub_evaluator")
    called = [*replicas([root], "stub_embedder"), *replicas([root], "stub_index")]
    controllers = replicas([root], "controller")
    if len(evaluators) != count or len(called) != 2 * count or len(controllers) != 1:
        raise RuntimeError(f"Not all processes were found: {len(evaluators)}, {len(called)}, {len(controllers)}.")
    idle = _cpu(controllers)
    await asyncio.sleep(seconds)
    idle = _cpu(controllers) - idle
    before = [_cpu(those) for those in (evaluators, called, controllers)]
    began = time.monotonic()
    took = await _work(handle, count, seconds)
    wall = time.monotonic() - began
    asking, answering, controlling = (
        _cpu(those) - was for those, was in zip((evaluators, called, controllers), before, strict=True)
    )
    processes = 3 * count
    return Measured(
        replicas=count,
        calls_a_second=round(len(took) / wall, 1),
        cpu_ms_a_call=round(1000 * (asking + answering) / len(took), 2),
        evaluator_cpu_ms_a_call=round(1000 * asking / len(took), 2),
        answer_ms=round(1000 * float(np.median(took)), 1),
        replica_mb=round(sum(one.memory_full_info().pss for one in (*evaluators, *called)) / processes / 1e6, 1),
        controller_ms=round(1000 * controlling / wall, 1),
        idle_controller_ms=round(1000 * idle / seconds, 1),
    )


async def _work(handle: Any, count: int, seconds: float) -> list[float]:
    """Of all evaluators. A call that asks one evaluator twice asks another not at all: ideas are few for one alone."""
    each = max(1, _IDEAS_AT_ONCE // 4)
    asked = [handle.work.remote(each, seconds) for _ in range(4 * count)]
    return [one for took in await asyncio.gather(*asked) for one in took]


def _cpu(processes: Sequence[psutil.Process]) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in processes)


if __name__ == "__main__":
    main()
