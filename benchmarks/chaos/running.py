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
from benchmarks.chaos.killing import CallCounts, Killer, KillRecord, apply_faults, count_calls
from benchmarks.chaos.nodes import Node, NodePlan, run_nodes
from benchmarks.chaos.plan import plan_faults, plan_kills
from benchmarks.chaos.rayservice import DeployedService, ProbeSummary, deploy, read_ray_service, share_shards
from benchmarks.chaos.redis import run_redis
from benchmarks.chaos.simulated_users import open_tenants, plan_submissions, submit_all, wait_until_all_ended
from benchmarks.processes import find_free_port
from benchmarks.service import Service, run_service
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
_PURGE_WAIT_SECONDS = 60.0
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
    max_kills: int | None = None
    """Maximum number of kills; None: as many as fit into the time."""
    mean_pause: float = 10.0
    latency: float = 0.5
    with_faults: bool = True
    settling_seconds: float = 600.0
    """Maximum seconds for the remaining evaluations to end once faults have stopped."""
    outages: int = 0
    """Number of database outages."""
    outage_seconds: float = 60.0
    with_upgrade: bool = False
    """Whether the service is replaced half-way by a version under which evaluations start over."""
    erased_share: float = 0.0
    """Share of evaluations erased during the run."""
    document_share: float = 0.0
    """Share of evaluations sent as files."""
    cancelled_share: float = 0.1
    """Share of evaluations cancelled."""
    has_small_pools: bool = False
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
    kills: Sequence[KillRecord]
    missed_kinds: Sequence[str]
    findings: Findings
    stats: Stats
    counts_at_end: CallCounts
    starts: int
    """Number of starts of the service's first process."""
    probe_description: str
    """Summary of the API probes during the run; empty if the API was not probed."""
    seconds: float
    probe_summaries: Sequence[ProbeSummary] = ()
    """API probes between each kill and the next, or the end of the run."""
    gave_up: str = ""
    """Reason why the run ended early; empty if it did not."""


async def run(chaos: Chaos, home: Path) -> Outcome:
    """Run in the new directory `home`.

    Raises TimeoutError if the service does not start."""
    began = time.monotonic()
    accepted_file, erasures_file = home / "accepted.jsonl", home / "erased.jsonl"
    accepted_file.touch()
    erasures_file.touch()
    with Simulator(latency_mean=chaos.latency, models=("simulated", NEWER_MODEL)) as simulator:
        async with _start_service(chaos, simulator, home) as service:
            async with open_tenants(service.address, service.key, chaos.tenants) as tenants:
                killer = Killer(service, simulator)
                submissions = plan_submissions(
                    chaos.seed, chaos.texts, chaos.tenants, chaos.seconds,
                    chaos.erased_share, chaos.document_share, chaos.cancelled_share,
                )  # fmt: skip
                new_settings = {**service.environment, "ASSAYER_LLM__MODEL": NEWER_MODEL}
                plan = plan_incidents(chaos.seconds, chaos.outages, chaos.with_upgrade)
                _LOG.info("the service is running after %.0f s", time.monotonic() - began)
                async with asyncio.TaskGroup() as group:
                    group.create_task(submit_all(tenants, submissions, accepted_file, erasures_file))
                    group.create_task(_kill_processes(chaos, killer))
                    group.create_task(run_incidents(killer, plan, chaos.outage_seconds, new_settings))
                _LOG.info("all submissions and kills are done; waiting for the remaining evaluations to end")
                with suppress(TimeoutError):  # the reader reports evaluations without a verdict
                    await wait_until_all_ended(tenants, chaos.settling_seconds)
            counts_at_end, stats = await count_calls(simulator), await asyncio.to_thread(simulator.read_stats)
            probe_summaries = _summarise_probes(service, killer) if isinstance(service, DeployedService) else ()
            findings = await _read_once_purged(home, accepted_file, erasures_file)
    seconds = time.monotonic() - began
    probe_description = service.describe_probes() if isinstance(service, DeployedService) else ""
    return Outcome(
        killer.records,
        killer.missed_kinds,
        findings,
        stats,
        counts_at_end,
        service.starts,
        probe_description,
        seconds,
        probe_summaries,
        killer.gave_up,
    )


def _summarise_probes(service: DeployedService, killer: Killer) -> list[ProbeSummary]:
    kill_times = [killer.began + kill.at for kill in killer.records]
    return [service.summarise_probes(since, until) for since, until in pairwise([*kill_times, time.monotonic()])]


async def _kill_processes(chaos: Chaos, killer: Killer) -> None:
    fault_periods = plan_faults(chaos.seed, chaos.mean_pause) if chaos.with_faults else iter(())
    plan = plan_kills(chaos.seed, chaos.kinds, chaos.mean_pause)
    fault_task = asyncio.create_task(apply_faults(killer, fault_periods))
    try:
        async with asyncio.timeout(None if chaos.max_kills is not None else chaos.seconds):
            await killer.run(plan if chaos.max_kills is None else islice(plan, chaos.max_kills))
    except TimeoutError:
        pass
    finally:
        fault_task.cancel()
        await asyncio.gather(fault_task, return_exceptions=True)


@asynccontextmanager
async def _start_service(chaos: Chaos, simulator: Simulator, home: Path) -> AsyncIterator[Service]:
    if chaos.ground == "rayservice":
        async with _start_rayservice(chaos, simulator, home) as service:
            yield service
        return
    if chaos.ground == "ray-nodes":
        async with run_nodes(_NODES, build_environment(chaos.corpus, simulator, home)) as ray_nodes:
            address = ("--address", f"127.0.0.1:{ray_nodes[0].port}")
            async with run_service(_build_service(chaos, simulator, home, address, ray_nodes)) as service:
                yield service
        return
    arguments = () if chaos.ground == "one-process" else ("--ray",)
    async with run_service(_build_service(chaos, simulator, home, arguments, ())) as service:
        yield service


@asynccontextmanager
async def _start_rayservice(chaos: Chaos, simulator: Simulator, home: Path) -> AsyncIterator[Service]:
    plan = read_ray_service(_OVERLAY, chaos.pods, chaos.has_small_pools)
    source: dict[str, str] = {}
    if chaos.bucket is not None:
        source = {"ASSAYER_CORPUS__SOURCE": chaos.bucket}
        plan = share_shards(plan, chaos.shards)._replace(nodes=[_give_own_corpus(node, home) for node in plan.nodes])
    async with EmbeddedPostgres(home / "postgres") as server, run_redis(home) as redis_server:
        settings = build_environment(chaos.corpus, simulator, home) | {
            "ASSAYER_DATABASE__URL": await server.ensure(),
            "RAY_enable_worker_prestart": "0",  # otherwise each node starts eight idle processes
            **source,
        }
        async with (
            run_nodes(
                plan.nodes, settings, redis_server, find_free_port(), has_fast_health_checks=False, logs=chaos.ray_logs
            ) as ray_nodes,
            deploy(plan, home, settings, ray_nodes) as service,
        ):
            yield service
            if chaos.bucket is not None:
                _LOG.info(
                    "pulled: %s", "; ".join(_describe_pulled_files(home / _COPIES / node.name) for node in plan.nodes)
                )


def _give_own_corpus(node: NodePlan, home: Path) -> NodePlan:
    """Return the node with its own corpus directory, as if on its own disk."""
    return node._replace(variables={"ASSAYER_CORPUS__PATH": str(home / _COPIES / node.name)})


def _describe_pulled_files(copy: Path) -> str:
    files = [path for path in copy.rglob("*") if path.is_file()]
    return f"{copy.name} {len(files)} files, {sum(file.stat().st_size for file in files) / 2**20:.1f} MiB"


def _build_service(
    chaos: Chaos, simulator: Simulator, home: Path, arguments: tuple[str, ...], ray_nodes: tuple[Node, ...]
) -> Service:
    return Service(home, arguments, build_environment(chaos.corpus, simulator, home), ray_nodes)


def build_environment(corpus: Path, simulator: Simulator, home: Path) -> dict[str, str]:
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


async def _read_once_purged(home: Path, accepted_file: Path, erasures_file: Path) -> Findings:
    """Return the findings. While there are violations, wait for the next purge, because data stored at the moment of an
    erasure is deleted only then."""
    deadline = time.monotonic() + _PURGE_WAIT_SECONDS
    while True:
        findings = await _read(home, accepted_file, erasures_file)
        if not findings.violations or time.monotonic() > deadline:
            return findings
        await asyncio.sleep(1.0)


async def _read(home: Path, accepted_file: Path, erasures_file: Path) -> Findings:
    """Run the reader in a separate process and return its findings."""
    files = (str(erasures_file), str(home / "submissions"))
    async with EmbeddedPostgres(home / "postgres") as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.chaos.reader", await server.ensure(), str(accepted_file), *files),
            cwd=Path(__file__).parents[2],
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(_READ_SECONDS):
            output, _ = await process.communicate()
    return Findings.model_validate_json(output)
