"""A Ray of several nodes on one machine, each started as operators start them: `ray start --block`."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos.processes import end, family, free_port, raylet
from benchmarks.chaos.waiting import until
from cluster.ray_cluster import private_environment

__all__ = ["Node", "nodes"]

_PROGRAM = Path(sys.executable).with_name("ray")
_START_SECONDS = 60.0
_LOOK_SECONDS = 0.2
_SHARED_MEMORY = 256 * 2**20
_QUICK = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}
"""A node that is lost is missed after seconds, not after a quarter of a minute."""


@dataclass
class Node:
    """Started again whenever it ends. Only nodes beside the head have CPUs, so that every replica is on one."""

    folder: Path
    port: int
    """Of the cluster."""
    cpus: int
    environment: Mapping[str, str]
    """Every process of the service that it runs reads its settings there."""
    head: bool = False
    pid: int = 0
    starts: int = 0

    @property
    def command(self) -> list[str]:
        common = [
            f"--num-cpus={self.cpus}",
            f"--object-store-memory={_SHARED_MEMORY}",
            f"--dashboard-agent-listen-port={free_port()}",
            "--disable-usage-stats",
            "--block",
        ]
        if not self.head:
            return [str(_PROGRAM), "start", f"--address=127.0.0.1:{self.port}", *common]
        own = [f"--port={self.port}", f"--ray-client-server-port={free_port()}", f"--temp-dir={self.folder}"]
        return [
            str(_PROGRAM),
            "start",
            "--head",
            "--include-dashboard=false",
            f"--system-config={json.dumps(_QUICK)}",
            *own,
            *common,
        ]

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            process = await asyncio.create_subprocess_exec(
                *self.command,
                env={**os.environ, **self.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            self.pid = process.pid
            self.starts += 1
            family_of = family([process.pid])
            while process.returncode is None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await process.wait()
                family_of = family([process.pid]) or family_of
            await asyncio.to_thread(end, family_of)

    async def until_it_runs(self) -> None:
        """Raises TimeoutError."""

        async def runs() -> bool:
            return bool(self.pid) and raylet(self.pid) is not None

        await until(runs, _START_SECONDS, _LOOK_SECONDS)


@asynccontextmanager
async def nodes(cpus: Sequence[int], environment: Mapping[str, str]) -> AsyncIterator[tuple[Node, ...]]:
    """A head without CPUs and a node for each of `cpus`; they leave nothing behind."""
    with private_environment(several_nodes=True) as folder:
        port = free_port()
        head = Node(folder, port, 0, environment, head=True)
        tasks = [asyncio.create_task(head.run())]
        started = [head]
        try:
            await head.until_it_runs()
            for count in cpus:
                node = Node(folder, port, count, environment)
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
