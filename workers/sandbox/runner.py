"""Runs a parser as a sandboxed child process: document on its standard input, answer on its standard output."""

import asyncio
import os
import signal
import sys
from asyncio import StreamReader
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import IO, Literal, cast

__all__ = ["KilledCause", "ParserKilled", "run_sandboxed"]

KilledCause = Literal["too_much_text", "time", "computing_time", "broken_parser"]
"""`broken_parser` includes a parser that ran out of memory in a library that cannot say so."""


class ParserKilled(Exception):
    """The child gave no complete answer; the caller words the error for its kind of document."""

    def __init__(self, cause: KilledCause) -> None:
        super().__init__(cause)
        self.cause = cause


async def run_sandboxed(
    command: Sequence[str],
    document: IO[bytes] | None,
    wall_seconds: float,
    most_bytes: int,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """What `python command` answers. It must bind itself (`workers.sandbox.limits`). Raises ParserKilled.

    The child has no environment but its import path and what is given here.
    """
    async with _child(command, document, environment or {}) as process:
        try:
            async with asyncio.timeout(wall_seconds):
                output = await _collect(cast(StreamReader, process.stdout), most_bytes)
                returncode = await process.wait()
        except TimeoutError:
            raise ParserKilled("time") from None
    if returncode:
        raise ParserKilled("computing_time" if -returncode == signal.SIGXCPU else "broken_parser")
    return output


@asynccontextmanager
async def _child(
    command: Sequence[str], document: IO[bytes] | None, environment: Mapping[str, str]
) -> AsyncIterator[Process]:
    """Killed on the way out with all that it started, whatever happened."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-B", *command,
        stdin=DEVNULL if document is None else document, stdout=PIPE, stderr=DEVNULL, start_new_session=True,
        env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _collect(stdout: StreamReader, most_bytes: int) -> bytes:
    pieces, length = [], 0
    while piece := await stdout.read(65_536):
        pieces.append(piece)
        length += len(piece)
        if length > most_bytes:
            raise ParserKilled("too_much_text")
    return b"".join(pieces)
