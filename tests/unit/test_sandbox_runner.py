"""Runner of sandboxed parsers: children whose output ends the reading."""

import asyncio

import pytest
from pydantic import TypeAdapter

from workers.documents.limits import ParserLimits
from workers.sandbox.refusal import ParserCrash, Refused
from workers.sandbox.runner import parse_in_sandbox, run_sandboxed

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


@pytest.mark.parametrize(
    ("parser", "detail"),
    [("math:sqrt", "TypeError: must be real number"), ("os:_exit", "TypeError"), ("json:loads", "JSONDecodeError")],
)
async def test_crash_of_a_parser_is_told_from_a_refusal_and_logged(
    caplog: pytest.LogCaptureFixture, parser: str, detail: str
) -> None:
    with pytest.raises(ParserCrash, match="broken_parser") as caught:
        await parse_in_sandbox(parser, b"no number", ParserLimits(), TypeAdapter(int))
    assert detail in caught.value.detail
    assert f"the parser {parser} failed" in caplog.text


async def test_signal_and_unexpected_output_of_a_parser_are_crashes() -> None:
    with pytest.raises(ParserCrash) as caught:
        await run_sandboxed(["-c", "import os; os.abort()"], None, wall_seconds=50, most_bytes=1_000)
    assert caught.value.detail == "signal 6"
    with pytest.raises(ParserCrash) as caught:
        await parse_in_sandbox("json:loads", b'"seven"', ParserLimits(), TypeAdapter(int))
    assert "valid integer" in caught.value.detail
