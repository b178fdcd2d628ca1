"""Runner of sandboxed parsers: children whose output ends the reading."""

import asyncio

import pytest

from workers.sandbox.refusal import Refused
from workers.sandbox.runner import run_sandboxed

A_FULL_PIPE = """
import fcntl, os
fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 1 << 20)
while True:
    os.write(1, bytes(1 << 20))
"""


async def test_child_process_exceeding_output_limit_is_killed_and_reaped() -> None:
    """Output left in the pipe pauses the stream: waiting for the child alone would never return."""
    async with asyncio.timeout(60):
        with pytest.raises(Refused, match="too_much_text"):
            await run_sandboxed(["-c", A_FULL_PIPE], None, wall_seconds=50, most_bytes=1_000)
