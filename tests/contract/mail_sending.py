"""The sending of a service's mails: a task of the test's own process, or a process that shares the database."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from cluster.clock import SystemClock
from cluster.mail import build_mail_deliverer
from tests.contract.api.service import Service
from tests.contract.mail_sending_process import build_mail_settings


@asynccontextmanager
async def send_mails(service: Service, port: int, **changes: object) -> AsyncIterator[asyncio.Task[None]]:
    """Send the mails of a service in a task of this process."""
    deliverer = build_mail_deliverer(build_mail_settings(port, **changes), service.services.mails, SystemClock())
    assert deliverer is not None
    task = asyncio.create_task(deliverer.run())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def run_sender(database_url: str, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a process that sends mails after `begin_sending`, and kill it at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.contract.mail_sending_process",
        database_url,
        str(port),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert (await process.stdout.readline()).strip() == b"ready"
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def begin_sending(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    await process.stdin.drain()
