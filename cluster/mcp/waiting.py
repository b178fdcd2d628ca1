"""Wait for a job on behalf of a model: for a limited time, with progress reports, and with cancellation if the call is
cancelled."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

from assayer_client.resources import TERMINAL, JobResource
from assayer_client.retries import compute_next_poll
from cluster.mcp.callers import ToolContext

_CANCEL_SECONDS = 5.0


J = TypeVar("J", bound=JobResource)


class ServerState:
    """Whether this server is stopping. While it stops, calls end, but the work that they requested continues."""

    stopping: bool = False


async def wait_for_job(get_job: Callable[[], Awaitable[J]], seconds: float, context: ToolContext) -> J:
    """Return the job once it has ended, or its current state after `seconds`. Progress is reported as seconds
    waited."""
    began = time.monotonic()
    while (job := await get_job()).state not in TERMINAL:
        elapsed = time.monotonic() - began
        try:
            pause = compute_next_poll(elapsed, seconds)
        except TimeoutError:
            return job
        await context.report_progress(round(elapsed, 1), seconds, f"The job is {job.state}.")
        await anyio.sleep(pause)
    return job


@asynccontextmanager
async def cancel_with_call(cancel: Callable[[], Awaitable[object]], server: ServerState) -> AsyncIterator[None]:
    """Cancel the work if the call is cancelled, to save cost, unless the server itself is stopping."""
    try:
        yield
    except anyio.get_cancelled_exc_class():
        if not server.stopping:
            with anyio.move_on_after(_CANCEL_SECONDS, shield=True):
                await cancel()
        raise
