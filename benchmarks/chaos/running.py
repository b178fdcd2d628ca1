"""Chaos run: starts a service with users, kills and endpoint faults, then has the reader check the tables."""

import asyncio
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import islice, pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from benchmarks.chaos.findings import Findings
from benchmarks.chaos.incidents import plan_incidents, run_incidents
from benchmarks.chaos.killing import Killer, KillRecord, Spent, change_weather, spent
from benchmarks.chaos.nodes import Node, NodePlan, nodes
from benchmarks.chaos.plan import kills, weather
from benchmarks.chaos.rayservice import DeployedService, Quiet, deployed, read_ray_service, with_shared_shards
from benchmarks.chaos.redis import redis
from benchmarks.chaos.simulated_users import open_tenants, submissions, submit_all, until_all_ended
from benchmarks.processes import free_port
from benchmarks.service import Service, serving
from cluster.postgres import EmbeddedPostgres
from simulator.counters import Stats
from simulator.process import Simulator

Ground = Literal["one-process", "ray", "ray-nodes", "rayservice"]
"""Deployment: without Ray; on the service's private Ray cluster; on a Ray cluster with a head and two nodes that can be
lost; or the RayService of an overlay of `k8s/`, whose nodes, including the head, can be lost."""

_POOLS = ("evaluator", "ingress")
KINDS: Mapping[Ground, tuple[str, ...]] = {
    "one-process": ("service", "postgres"),
    "ray": (*_POOLS, "index", "embedder", "proxy", "controller", "postgres", "service"),
    "ray-nodes": (*_POOLS, "node", "postgres"),
    "rayservice": ("head", "pools-0", "pools-1", "gpus-0"),
}
_NODES = (NodePlan("node-0", 1), NodePlan("node-1", 1))
_OVERLAY = "llm"
"""Overlay without external services: models on GPUs, literature from the corpus only."""
_LOG = logging.getLogger(__name__)
_COPIES = "copies"
_READ_SECONDS = 120.0
_PURGED_SECONDS = 60.0
NEWER_MODEL = "simulated-newer"
"""Model after the upgrade; like another version of the prompts, another model makes another run."""


class Chaos(NamedTuple):
    """Settings of a chaos run. The seed determines the order and pauses of kills, the endpoint faults and all
    submissions; which calls are in flight at a kill depends on the machine."""

    seed: int
    ground: Ground
    kinds: Sequence[str]
    texts: Sequence[str]
    """Texts of the ideas; no two are alike."""
    corpus: Path
    tenants: int = 3
    seconds: float = 60.0
    """Seconds during which evaluations are submitted and processes are killed."""
    most_kills: int | None = None
    """Maximum number of kills; None: as many as fit into the time."""
    mean_pause: float = 10.0
    latency: float = 0.5
    storms: bool = True
    settling_seconds: float = 600.0
    """Maximum seconds for the remaining evaluations to end once faults have stopped."""
    outages: int = 0
    """Number of database outages."""
    outage_seconds: float = 60.0
    upgrade: bool = False
    """Whether the service is replaced half-way by a version under which evaluations start over."""
    erased: float = 0.0
    """Share of evaluations erased during the run."""
    documents: float = 0.0
    """Share of evaluations sent as files."""
    cancelled: float = 0.1
    """Share of evaluations cancelled."""
    small: bool = False
    """Whether the pools of a RayService have at most two processes."""
    pods: int = 2
    """Maximum pods of one group of a RayService."""
    bucket: str | None = None
    """Address of the bucket with a RayService's corpus, from which each node pulls its shards."""
    shards: int = 1
    """Number of shards of the corpus in the bucket."""
    ray_logs: Path | None = None
    """Folder to which the logs of a RayService's nodes are copied."""


class Outcome(NamedTuple):
    killings: Sequence[KillRecord]
    missed: Sequence[str]
    findings: Findings
    stats: Stats
    last: Spent
    starts: int
    """Number of starts of the service's first process."""
    silence: str
    """Summary of the API probes during the run; empty if the API was not probed."""
    seconds: float
    quiet: Sequence[Quiet] = ()
    """API probes between each kill and the next, or the end of the run."""
    gave_up: str = ""
    """Reason why the run ended early; empty if it did not."""


async def run(chaos: Chaos, home: Path) -> Outcome:
    """Run in the new directory `home`.

    Raises TimeoutError if the service does not start."""
    began = time.monotonic()
    record, erasures = home / "accepted.jsonl", home / "erased.jsonl"
    record.touch()
    erasures.touch()
    with Simulator(latency_mean=chaos.latency, models=("simulated", NEWER_MODEL)) as simulator:
        async with _ground(chaos, simulator, home) as service:
            async with open_tenants(service.address, service.key, chaos.tenants) as tenants:
                killer = Killer(service, simulator)
                planned = submissions(
                    chaos.seed, chaos.texts, chaos.tenants, chaos.seconds,
                    chaos.erased, chaos.documents, chaos.cancelled,
                )  # fmt: skip
                new_settings = {**service.environment, "ASSAYER_LLM__MODEL": NEWER_MODEL}
                plan = plan_incidents(chaos.seconds, chaos.outages, chaos.upgrade)
                _LOG.info("the service is running after %.0f s", time.monotonic() - began)
                async with asyncio.TaskGroup() as group:
                    group.create_task(submit_all(tenants, planned, record, erasures))
                    group.create_task(_trouble(chaos, killer))
                    group.create_task(run_incidents(killer, plan, chaos.outage_seconds, new_settings))
                _LOG.info("all submissions and kills are done; waiting for the remaining evaluations to end")
                with suppress(TimeoutError):  # the reader reports evaluations without a verdict
                    await until_all_ended(tenants, chaos.settling_seconds)
            last, stats = await spent(simulator), await asyncio.to_thread(simulator.stats)
            quiet_periods = _quiet(service, killer) if isinstance(service, DeployedService) else ()
            findings = await _read_once_purged(home, record, erasures)
    seconds = time.monotonic() - began
    silence = service.silence() if isinstance(service, DeployedService) else ""
    return Outcome(
        killer.done,
        killer.missed,
        findings,
        stats,
        last,
        service.starts,
        silence,
        seconds,
        quiet_periods,
        killer.gave_up,
    )


def _quiet(service: DeployedService, killer: Killer) -> list[Quiet]:
    times = [killer.began + item.at for item in killer.done]
    return [service.quiet(since, until) for since, until in pairwise([*times, time.monotonic()])]


async def _trouble(chaos: Chaos, killer: Killer) -> None:
    weather_changes = weather(chaos.seed, chaos.mean_pause) if chaos.storms else iter(())
    plan = kills(chaos.seed, chaos.kinds, chaos.mean_pause)
    storms = asyncio.create_task(change_weather(killer, weather_changes))
    try:
        async with asyncio.timeout(None if chaos.most_kills is not None else chaos.seconds):
            await killer.run(plan if chaos.most_kills is None else islice(plan, chaos.most_kills))
    except TimeoutError:
        pass
    finally:
        storms.cancel()
        await asyncio.gather(storms, return_exceptions=True)


@asynccontextmanager
async def _ground(chaos: Chaos, simulator: Simulator, home: Path) -> AsyncIterator[Service]:
    if chaos.ground == "rayservice":
        async with _rayservice(chaos, simulator, home) as service:
            yield service
        return
    if chaos.ground == "ray-nodes":
        async with nodes(_NODES, environment(chaos.corpus, simulator, home)) as ray_nodes:
            address = ("--address", f"127.0.0.1:{ray_nodes[0].port}")
            async with serving(_service(chaos, simulator, home, address, ray_nodes)) as service:
                yield service
        return
    arguments = () if chaos.ground == "one-process" else ("--ray",)
    async with serving(_service(chaos, simulator, home, arguments, ())) as service:
        yield service


@asynccontextmanager
async def _rayservice(chaos: Chaos, simulator: Simulator, home: Path) -> AsyncIterator[Service]:
    plan = read_ray_service(_OVERLAY, chaos.pods, chaos.small)
    source: dict[str, str] = {}
    if chaos.bucket is not None:
        source = {"ASSAYER_CORPUS__SOURCE": chaos.bucket}
        plan = with_shared_shards(plan, chaos.shards)._replace(nodes=[_with_copy(node, home) for node in plan.nodes])
    async with EmbeddedPostgres(home / "postgres") as server, redis(home) as redis_server:
        settings = environment(chaos.corpus, simulator, home) | {
            "ASSAYER_DATABASE__URL": await server.ensure(),
            "RAY_enable_worker_prestart": "0",  # otherwise each node starts eight idle processes
            **source,
        }
        async with (
            nodes(plan.nodes, settings, redis_server, free_port(), is_quick=False, logs=chaos.ray_logs) as ray_nodes,
            deployed(plan, home, settings, ray_nodes) as service,
        ):
            yield service
            if chaos.bucket is not None:
                _LOG.info("pulled: %s", "; ".join(_pulled(home / _COPIES / node.name) for node in plan.nodes))


def _with_copy(node: NodePlan, home: Path) -> NodePlan:
    """Return the node with its own corpus directory, as if on its own disk."""
    return node._replace(variables={"ASSAYER_CORPUS__PATH": str(home / _COPIES / node.name)})


def _pulled(copy: Path) -> str:
    files = [path for path in copy.rglob("*") if path.is_file()]
    return f"{copy.name} {len(files)} files, {sum(file.stat().st_size for file in files) / 2**20:.1f} MiB"


def _service(
    chaos: Chaos, simulator: Simulator, home: Path, arguments: tuple[str, ...], ray_nodes: tuple[Node, ...]
) -> Service:
    return Service(home, arguments, environment(chaos.corpus, simulator, home), ray_nodes)


def environment(corpus: Path, simulator: Simulator, home: Path) -> dict[str, str]:
    """Return this process's environment without existing ASSAYER_ and OPENAI_ variables, with deadlines that suit a
    run of minutes."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
    return inherited | {
        "HOME": str(home),
        "ASSAYER_HOME": str(home),
        "ASSAYER_CORPUS__PATH": str(corpus),
        "ASSAYER_LLM__BASE_URL": simulator.base_url,
        "ASSAYER_LLM__MODEL": "simulated",
        "ASSAYER_LLM__PRICES": f'{{"simulated": [1, 2], "{NEWER_MODEL}": [1, 2]}}',
        "ASSAYER_QUEUE__LEASE_SECONDS": "15",
        "ASSAYER_QUEUE__MAX_LOSSES": "50",
        "ASSAYER_WORK__PURGE_SECONDS": "5",
        "ASSAYER_BATCHES__ABANDONED_SECONDS": "30",
        "ASSAYER_WORK__DRAIN_SECONDS": "1",
        "ASSAYER_SERVING__HEALTH_SECONDS": "3",
        # By default, index, embedder and API have no processes of their own that could be killed.
        **{f"ASSAYER_SERVING__{pool}__REPLICAS": "1" for pool in ("INGRESS", "INDEX", "EMBEDDER")},
        "ASSAYER_SERVING__EVALUATOR__REPLICAS": "2",
    }


async def _read_once_purged(home: Path, record: Path, erasures: Path) -> Findings:
    """Return the findings. While there are violations, wait for the next purge, because data stored at the moment of an
    erasure is deleted only then."""
    deadline = time.monotonic() + _PURGED_SECONDS
    while True:
        findings = await _read(home, record, erasures)
        if not findings.violations or time.monotonic() > deadline:
            return findings
        await asyncio.sleep(1.0)


async def _read(home: Path, record: Path, erasures: Path) -> Findings:
    """Run the reader in a separate process and return its findings."""
    files = (str(erasures), str(home / "submissions"))
    async with EmbeddedPostgres(home / "postgres") as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.chaos.reader", await server.ensure(), str(record), *files),
            cwd=Path(__file__).parents[2],
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(_READ_SECONDS):
            output, _ = await process.communicate()
    return Findings.model_validate_json(output)
