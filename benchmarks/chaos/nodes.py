"""Ray cluster of several nodes on one machine, each started with `ray start --block` as operators do."""

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
from benchmarks.processes import find_free_port, find_raylet, kill_processes, list_process_tree
from benchmarks.waiting import wait_until
from cluster.ray_cluster import enter_private_environment

_PROGRAM = Path(sys.executable).with_name("ray")
_START_SECONDS = 300.0
_POLL_SECONDS = 0.2
_SHARED_MEMORY_BYTES = 256 * 2**20
_FAST_HEALTH_CHECKS = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}
"""Ray settings with which a lost node is noticed after seconds rather than a quarter of a minute."""


_CURRENT_CLUSTER_FILE = "ray_current_cluster"
_LONG_RECONNECT = {"RAY_gcs_rpc_server_reconnect_timeout_s": "600"}
"""Ray settings of a node that waits for a new head as long as KubeRay's workers do."""


class NodePlan(NamedTuple):
    name: str
    cpus: int
    gpus: int = 0
    """Number of GPUs that Ray assigns but that do not exist."""
    variables: Mapping[str, str] = MappingProxyType({})
    """Environment variables of this node only."""
    labels: Mapping[str, str] = MappingProxyType({})
    """Labels by which Ray chooses nodes for processes."""


@dataclass
class Node:
    """Node that is restarted whenever it ends. The head has no CPUs, so that all replicas run on other nodes."""

    folder: Path
    port: int
    """Port of the cluster."""
    plan: NodePlan
    environment: Mapping[str, str]
    """Environment variables, from which processes of the service on this node read their settings."""
    is_head: bool = False
    redis: Redis | None = None
    """Redis server in which the head stores its state, so that a new head can take over."""
    dashboard_port: int | None = None
    """Port of the head's dashboard, which accepts Serve configs."""
    has_fast_health_checks: bool = True
    """Whether a lost node is noticed after seconds. On an overloaded machine, living nodes would be considered lost
    too."""
    start_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Lock held while a node starts, because nodes that start on one machine at the same time use the same socket."""
    head_node: "Node | None" = None
    """Head, which must be running before this node starts, as for KubeRay's workers."""
    pid: int = 0
    starts: int = 0

    @property
    def command(self) -> list[str]:
        common = [
            f"--num-cpus={self.plan.cpus}",
            f"--num-gpus={self.plan.gpus}",
            f"--labels={','.join(f'{name}={value}' for name, value in self.plan.labels.items())}",
            f"--object-store-memory={_SHARED_MEMORY_BYTES}",
            "--min-worker-port=0",  # any free port, because nodes would otherwise use the same range
            "--max-worker-port=0",
            f"--dashboard-agent-listen-port={find_free_port()}",
            "--disable-usage-stats",
            "--block",
        ]
        if not self.is_head:
            return [str(_PROGRAM), "start", f"--address=127.0.0.1:{self.port}", *common]
        options = [f"--port={self.port}", f"--ray-client-server-port={find_free_port()}", f"--temp-dir={self.folder}"]
        options += (
            ["--include-dashboard=false"]
            if self.dashboard_port is None
            else [f"--dashboard-port={self.dashboard_port}"]
        )
        options += [] if self.redis is None else [f"--redis-password={self.redis.password}"]
        return [
            str(_PROGRAM),
            "start",
            "--head",
            f"--system-config={json.dumps(_FAST_HEALTH_CHECKS if self.has_fast_health_checks else {})}",
            *options,
            *common,
        ]

    async def run(self) -> None:
        """Run the node until cancelled."""
        while True:
            async with self.start_lock:
                if self.head_node is not None:
                    await self.head_node.wait_until_running_again()
                process = await self._start_process()
                await self._wait_for_start(process)
            processes = list_process_tree([process.pid])
            while process.returncode is None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await process.wait()
                processes = list_process_tree([process.pid]) or processes
            await asyncio.to_thread(kill_processes, processes)

    async def _start_process(self) -> asyncio.subprocess.Process:
        if self.is_head:
            # Ray refuses to start a head if this file names one and processes of the cluster are running, as other
            # nodes are.
            (self.folder / _CURRENT_CLUSTER_FILE).unlink(missing_ok=True)
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

    async def _wait_for_start(self, process: asyncio.subprocess.Process) -> None:
        """Wait until the node is running, has ended, or has taken too long to start."""

        async def has_settled() -> bool:
            return process.returncode is not None or find_raylet(process.pid) is not None

        with suppress(TimeoutError):
            await wait_until(has_settled, _START_SECONDS, _POLL_SECONDS)

    async def wait_until_running(self) -> None:
        """Wait until the node is running. Raises TimeoutError."""
        await wait_until(self._is_running, _START_SECONDS, _POLL_SECONDS)

    async def wait_until_running_again(self) -> None:
        """Wait until the node is running, however many restarts this takes."""
        while True:
            with suppress(TimeoutError):
                return await self.wait_until_running()

    async def _is_running(self) -> bool:
        return bool(self.pid) and find_raylet(self.pid) is not None


@asynccontextmanager
async def run_nodes(
    plans: Sequence[NodePlan],
    environment: Mapping[str, str],
    redis: Redis | None = None,
    dashboard_port: int | None = None,
    has_fast_health_checks: bool = True,
    logs: Path | None = None,
) -> AsyncIterator[tuple[Node, ...]]:
    """Start a head without CPUs and the planned nodes; yield them, the head first. Everything is removed afterwards
    except for the logs, which are copied to `logs`."""
    with enter_private_environment(several_nodes=True) as folder:
        port = find_free_port()
        head = Node(folder, port, NodePlan("head", 0), environment, True, redis, dashboard_port, has_fast_health_checks)
        tasks, start_lock = [asyncio.create_task(head.run())], asyncio.Lock()
        all_nodes = [head]
        try:
            await head.wait_until_running()
            patient = environment if redis is None else {**environment, **_LONG_RECONNECT}
            for plan in plans:
                node = Node(folder, port, plan, {**patient, **plan.variables}, start_lock=start_lock, head_node=head)
                all_nodes.append(node)
                tasks.append(asyncio.create_task(node.run()))
                await node.wait_until_running()
            yield tuple(all_nodes)
        finally:
            leftovers = list_process_tree(node.pid for node in all_nodes if node.pid)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(kill_processes, leftovers)
            if logs is not None:
                await asyncio.to_thread(_copy_logs, folder, logs)


def _copy_logs(session: Path, logs: Path) -> None:
    for path in session.glob("session_2*/logs"):
        shutil.copytree(path, logs / path.parent.name, dirs_exist_ok=True, ignore_dangling_symlinks=True)
