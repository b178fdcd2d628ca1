"""The service under test: `assayer serve` as a process that is restarted whenever it ends, as by an init system."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx2
import psutil

from benchmarks.chaos.nodes import Node
from benchmarks.processes import (
    find_database_server,
    find_free_port,
    find_gcs_server,
    find_raylet,
    kill_processes,
    list_process_tree,
    list_replicas,
)
from benchmarks.waiting import wait_until

_PROGRAM = Path(sys.executable).with_name("assayer")
_START_SECONDS = 240.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.25
_REQUEST_SECONDS = 5.0


@dataclass
class Service:
    """A service. Its `key` has all permissions and is known once the service has listened for the first time."""

    home: Path
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    nodes: tuple[Node, ...] = ()
    """Ray nodes, if the service runs on a cluster that it did not start."""
    port: int = field(default_factory=find_free_port)
    key: str = ""
    starts: int = 0
    process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def roots(self) -> list[int]:
        """Root process ids of the service and its Ray nodes, without the database."""
        pids = [] if self.process is None else [self.process.pid]
        return pids + [node.pid for node in self.nodes if node.pid]

    def find_process(self, kind: str) -> psutil.Process | None:
        """Return a process of that kind, if one is alive."""
        match kind:
            case "service":
                process = self.process
                return psutil.Process(process.pid) if process is not None and process.returncode is None else None
            case "postgres":
                return find_database_server(self.home)
            case "node":
                raylets = [find_raylet(node.pid) for node in self.nodes if node.pid and not node.is_head]
                return next((raylet for raylet in raylets if raylet is not None), None)
            case name if name in (nodes_by_name := {node.plan.name: node for node in self.nodes}):
                pid = nodes_by_name[name].pid
                return (find_gcs_server(pid) if nodes_by_name[name].is_head else find_raylet(pid)) if pid else None
            case _:
                return next(iter(list_replicas(self.roots, kind)), None)

    async def is_answering(self) -> bool:
        """Return whether the service answers a request that needs the database."""
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            async with httpx2.AsyncClient(timeout=_REQUEST_SECONDS, headers=headers) as client:
                response = await client.get(f"{self.address}/v1/evaluations?limit=1")
                return response.is_success and "items" in response.json()
        except (httpx2.HTTPError, OSError, ValueError):
            return False

    async def wait_until_answering(self, seconds: float = _START_SECONDS) -> None:
        """Wait until the service answers. Raises TimeoutError with the end of its log."""

        async def is_ready() -> bool:
            return bool(self.key) and await self.is_answering()

        try:
            await wait_until(is_ready, seconds, _POLL_SECONDS)
        except TimeoutError:
            raise TimeoutError(f"The service did not answer within {seconds:g} s: {self.read_log_end()}") from None

    async def list_living_nodes(self) -> frozenset[str]:
        """Return the ids of the live Ray nodes; empty unless a subclass tracks them."""
        return frozenset()

    async def wait_until_whole(self, nodes_before: frozenset[str]) -> None:
        """Wait until dead nodes have been replaced, if a subclass tracks them; `nodes_before` are the nodes that were
        alive before. Raises TimeoutError."""

    def read_log_end(self) -> str:
        log = self.home / "serve.log"
        return log.read_text("utf-8", "replace")[-3000:] if log.is_file() else ""

    async def upgrade(self, environment: Mapping[str, str]) -> None:
        """Stop the service; it is then restarted with the new settings."""
        self.environment = environment
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()
            await self.process.wait()

    async def run(self) -> None:
        """Run the service until cancelled."""
        with (self.home / "serve.log").open("ab") as log:
            while True:
                await self._run_once(log)

    async def _run_once(self, log: IO[bytes]) -> None:
        command = [str(_PROGRAM), "serve", "--port", str(self.port), *self.arguments]
        self.process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.home,
            env=dict(self.environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
        self.starts += 1
        assert self.process.stdout is not None  # noqa: S101 - it was opened as a pipe
        async for line in self.process.stdout:
            if match := re.search(rb"Its key is in (.+)", line):
                self.key = (await asyncio.to_thread(Path(match[1].decode()).read_text, "utf-8")).strip()
        await self.process.wait()

    async def stop(self) -> None:
        """Stop gracefully if possible, then end any remaining processes."""
        remaining = list_process_tree(self.roots)
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await self.process.wait()
        await asyncio.to_thread(kill_processes, remaining)


@asynccontextmanager
async def run_service(service: Service) -> AsyncIterator[Service]:
    """Run a service within the block, restarting it if it dies; afterwards stop it and its database."""
    task = asyncio.create_task(service.run())
    try:
        await service.wait_until_answering()
        yield service
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await service.stop()
        if (server := find_database_server(service.home)) is not None:
            await asyncio.to_thread(kill_processes, [server])
