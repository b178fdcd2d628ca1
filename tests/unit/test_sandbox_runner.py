"""Runner of sandboxed parsers: children whose output ends the reading."""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

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


PROBES = "tests.unit.sandbox_probes"


async def test_child_process_exceeding_output_limit_is_killed_and_reaped() -> None:
    """Output left in the pipe pauses the stream: waiting for the child alone would never return."""
    async with asyncio.timeout(60):
        with pytest.raises(Refused, match="too_much_text"):
            await run_sandboxed(["-c", A_FULL_PIPE], None, wall_seconds=50, max_bytes=1_000)


@pytest.fixture(scope="module")
def landlock_version() -> int:
    """Version of Landlock of this kernel."""
    command = (sys.executable, "-c", "from workers.sandbox.isolation import isolate; print(isolate())")
    version = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if not version:
        pytest.skip("this kernel has no Landlock")
    return version


async def test_parser_cannot_read_keys_or_documents_of_the_service(landlock_version: int, tmp_path: Path) -> None:
    document = tmp_path / "document.txt"
    document.write_text("of somebody else")
    for path in (document, f"/proc/{os.getpid()}/environ", "/etc/passwd", Path.home()):
        with pytest.raises(ParserCrash) as caught:
            await parse_in_sandbox(f"{PROBES}:read_file", str(path).encode(), ParserLimits(), TypeAdapter(int))
        assert "PermissionError" in caught.value.detail, path


async def test_parser_cannot_create_files(landlock_version: int, tmp_path: Path) -> None:
    with pytest.raises(ParserCrash) as caught:
        await parse_in_sandbox(f"{PROBES}:write_file", str(tmp_path / "a").encode(), ParserLimits(), TypeAdapter(int))
    assert "PermissionError" in caught.value.detail


async def test_parser_cannot_connect_to_servers_or_signal_processes(landlock_version: int) -> None:
    if landlock_version < 6:
        pytest.skip(f"Landlock {landlock_version} does not restrict connections and signals")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1]).encode()
        for probe in ("connect", "signal_parent"):
            with pytest.raises(ParserCrash) as caught:
                await parse_in_sandbox(f"{PROBES}:{probe}", port, ParserLimits(), TypeAdapter(int))
            assert "PermissionError" in caught.value.detail


@pytest.mark.parametrize(
    ("parser", "detail"),
    [("math:sqrt", "TypeError: must be real number"), ("os:_exit", "TypeError"), ("json:loads", "JSONDecodeError")],
)
async def test_parser_crash_is_distinguished_from_a_refusal_and_logged(
    caplog: pytest.LogCaptureFixture, parser: str, detail: str
) -> None:
    with pytest.raises(ParserCrash, match="broken_parser") as caught:
        await parse_in_sandbox(parser, b"no number", ParserLimits(), TypeAdapter(int))
    assert detail in caught.value.detail
    assert f"the parser {parser} failed" in caplog.text


async def test_signal_and_unexpected_output_of_a_parser_are_crashes() -> None:
    with pytest.raises(ParserCrash) as caught:
        await run_sandboxed(["-c", "import os; os.abort()"], None, wall_seconds=50, max_bytes=1_000)
    assert caught.value.detail == "signal 6"
    with pytest.raises(ParserCrash) as caught:
        await parse_in_sandbox("json:loads", b'"seven"', ParserLimits(), TypeAdapter(int))
    assert "valid integer" in caught.value.detail
