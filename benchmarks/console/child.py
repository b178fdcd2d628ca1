"""The API in a child process, with an existing database: `python -m benchmarks.console.child URL`."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import psutil
import uvicorn
from pydantic import SecretStr

from cluster.clock import SystemClock
from cluster.service import build_api_services
from cluster.settings import Settings
from orchestrator.application import create_app
from orchestrator.problems import Check
from orchestrator.store import Database, DatabaseSettings, NotificationListener


class ServedConsole(NamedTuple):
    address: str
    process: psutil.Process


@asynccontextmanager
async def serve_console(database_url: str) -> AsyncIterator[ServedConsole]:
    command = (sys.executable, "-m", "benchmarks.console.child", database_url)
    child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=os.environ)
    try:
        if child.stdout is None:
            raise RuntimeError("The output of the service cannot be read.")
        address = (await asyncio.wait_for(child.stdout.readline(), 60)).decode().strip()
        yield ServedConsole(address, psutil.Process(child.pid))
    finally:
        child.terminate()
        await child.wait()


async def _serve(database_url: str) -> None:
    settings = Settings()

    async def check_readiness() -> Sequence[Check]:
        return ()

    async with (
        Database(DatabaseSettings(url=SecretStr(database_url))) as database,
        NotificationListener(database) as listener,
    ):
        services = build_api_services(settings, database, listener, SystemClock(), None, check_readiness)
        with socket.socket() as listening_socket:
            listening_socket.bind(("127.0.0.1", 0))
            listening_socket.listen()
            print(f"http://127.0.0.1:{listening_socket.getsockname()[1]}", flush=True)
            config = uvicorn.Config(create_app(services), log_config=None, access_log=False, lifespan="off")
            await uvicorn.Server(config).serve([listening_socket])


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1]))
