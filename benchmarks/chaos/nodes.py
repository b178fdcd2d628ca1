"""A Ray of several nodes on one machine, each started as operators start them: `ray start --block`."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.chaos.redis import Redis
from benchmarks.processes import end, family, free_port, raylet
from benchmarks.waiting import until
from cluster.ray_cluster import private_environment

_PROGRAM = Path(sys.executable).with_name("ray")
_START_SECONDS = 300.0
_LOOK_SECONDS = 0.2
_SHARED_MEMORY = 256 * 2**20
_QUICK = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}
"""Not after a quarter of a minute, as Ray has it."""


_CURRENT_CLUSTER = "ray_current_cluster"
_PATIENT = {"RAY_gcs_rpc_server_reconnect_timeout_s": "600"}
"""Ray settings of a node that waits for a new head as long as KubeRay lets its workers wait."""


class NodePlan(NamedTuple):
    name: str
    cpus: int
    gpus: int = 0
    """Made up: Ray gives them out, nobody finds one."""
    variables: Mapping[str, str] = MappingProxyType({})
    """Environment variables of this node only."""


@dataclass
class Node:
    """Started again whenever it ends. Only nodes beside the head have CPUs, so that every replica is on one."""

    folder: Path
    port: int
    """Port of the cluster."""
    plan: NodePlan
    environment: Mapping[str, str]
    """Every process of the service that it runs reads its settings there."""
    head: bool = False
    redis: Redis | None = None
    """Where a head keeps what it knows, so that another can follow it."""
    dashboard: int | None = None
    """The port where a head takes Serve configs."""
    quick: bool = True
    """Whether a node that is lost is missed after seconds. On a machine that is short of time so is one that lives."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while one starts. Nodes of one machine that start at the same moment take the same socket."""
    leader: "Node | None" = None
    """The head, which has to run before this one starts, as KubeRay's workers wait for theirs."""
    pid: int = 0
    starts: int = 0

    @property
    def command(self) -> list[str]:
        common = [
            f"--num-cpus={self.plan.cpus}",
            f"--num-gpus={self.plan.gpus}",
            f"--object-store-memory={_SHARED_MEMORY}",
            "--min-worker-port=0",  # any: each node would give out the same ones
            "--max-worker-port=0",
            f"--dashboard-agent-listen-port={free_port()}",
            "--disable-usage-stats",
            "--block",
        ]
        if not self.head:
            return [str(_PROGRAM), "start", f"--address=127.0.0.1:{self.port}", *common]
        own = [f"--port={self.port}", f"--ray-client-server-port={free_port()}", f"--temp-dir={self.folder}"]
        own += ["--include-dashboard=false"] if self.dashboard is None else [f"--dashboard-port={self.dashboard}"]
        own += [] if self.redis is None else [f"--redis-password={self.redis.password}"]
        return [
            str(_PROGRAM),
            "start",
            "--head",
            f"--system-config={json.dumps(_QUICK if self.quick else {})}",
            *own,
            *common,
        ]

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            async with self.turn:
                if self.leader is not None:
                    await self.leader.until_it_runs_again()
                process = await self._started()
                await self._until_it_runs_or_ends(process)
            family_of = family([process.pid])
            while process.returncode is None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await process.wait()
                family_of = family([process.pid]) or family_of
            await asyncio.to_thread(end, family_of)

    async def _started(self) -> asyncio.subprocess.Process:
        if self.head:
            # Ray starts no head where it reads of one and finds processes that were told of it: those of other nodes.
            (self.folder / _CURRENT_CLUSTER).unlink(missing_ok=True)
        process = await asyncio.create_subprocess_exec(
            *self.command,
            env={**os.environ, **self.environment, **(self.redis.environment if self.redis else {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        self.pid = process.pid
        self.starts += 1
        return process

    async def _until_it_runs_or_ends(self, process: asyncio.subprocess.Process) -> None:
        """Or for as long as a start may take."""

        async def settled() -> bool:
            return process.returncode is not None or raylet(process.pid) is not None

        with suppress(TimeoutError):
            await until(settled, _START_SECONDS, _LOOK_SECONDS)

    async def until_it_runs(self) -> None:
        """Raises TimeoutError."""
        await until(self._runs, _START_SECONDS, _LOOK_SECONDS)

    async def until_it_runs_again(self) -> None:
        """However often it has to be started for that."""
        while True:
            with suppress(TimeoutError):
                return await self.until_it_runs()

    async def _runs(self) -> bool:
        return bool(self.pid) and raylet(self.pid) is not None


@asynccontextmanager
async def nodes(
    plans: Sequence[NodePlan],
    environment: Mapping[str, str],
    redis: Redis | None = None,
    dashboard: int | None = None,
    quick: bool = True,
    logs: Path | None = None,
) -> AsyncIterator[tuple[Node, ...]]:
    """A head without CPUs and those planned. They leave nothing behind but what they logged, in that folder."""
    with private_environment(several_nodes=True) as folder:
        port = free_port()
        head = Node(folder, port, NodePlan("head", 0), environment, True, redis, dashboard, quick)
        tasks, turn = [asyncio.create_task(head.run())], asyncio.Lock()
        started = [head]
        try:
            await head.until_it_runs()
            patient = environment if redis is None else {**environment, **_PATIENT}
            for plan in plans:
                node = Node(folder, port, plan, {**patient, **plan.variables}, turn=turn, leader=head)
                started.append(node)
                tasks.append(asyncio.create_task(node.run()))
                await node.until_it_runs()
            yield tuple(started)
        finally:
            left = family(node.pid for node in started if node.pid)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(end, left)
            if logs is not None:
                await asyncio.to_thread(_keep, folder, logs)


def _keep(session: Path, logs: Path) -> None:
    for path in session.glob("session_2*/logs"):
        shutil.copytree(path, logs / path.parent.name, dirs_exist_ok=True, ignore_dangling_symlinks=True)
