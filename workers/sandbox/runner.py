"""Run parsers in sandboxed child processes. The document is the child's standard input, the result its standard
output."""

import asyncio
import json
import logging
import os
import signal
import sys
import tempfile
from asyncio import StreamReader
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import IO, Protocol, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from workers.sandbox.refusal import ParserCrash, Refused

__all__ = ["ParserCrash", "Refused", "SandboxLimits", "parse_in_sandbox", "run_sandboxed"]

T = TypeVar("T")

_BYTES_PER_CHARACTER = 12
_EXTRA_BYTES = 1_000_000
_MAX_DETAIL_CHARS = 2_000
_REFUSAL_START, _CRASH_START = b'{"refused": ', b'{"crashed": '
_LOG = logging.getLogger(__name__)


class SandboxLimits(Protocol):
    @property
    def memory_bytes(self) -> int: ...
    @property
    def cpu_seconds(self) -> int: ...
    @property
    def wall_seconds(self) -> float: ...
    @property
    def characters(self) -> int: ...


async def parse_in_sandbox(
    parser: str, document: bytes, limits: SandboxLimits, answer: TypeAdapter[T], **options: object
) -> T:
    """Run a parser in a child process and return its validated result. `parser` names a function that takes a document
    and options, as `module:function`. Raises Refused if the document cannot be read; a ParserCrash is also logged."""
    limit_arguments = (str(limits.memory_bytes), str(limits.cpu_seconds))
    command = ("-m", "workers.sandbox.program", *limit_arguments, parser, json.dumps(options))
    with tempfile.TemporaryFile(buffering=0) as file:
        await asyncio.to_thread(_write_document, file, document)
        max_bytes = _BYTES_PER_CHARACTER * limits.characters + _EXTRA_BYTES
        try:
            output = await run_sandboxed(command, file, limits.wall_seconds, max_bytes)
            return await asyncio.to_thread(_parse_output, output, answer)
        except ParserCrash as crash:
            _LOG.error("the parser %s failed: %r", parser, crash.detail)
            raise


def _parse_output(output: bytes, answer: TypeAdapter[T]) -> T:
    if output.startswith(_REFUSAL_START):
        raise Refused(**json.loads(output)["refused"])
    if output.startswith(_CRASH_START):
        raise ParserCrash(str(json.loads(output)["crashed"]))
    try:
        return answer.validate_json(output)
    except ValidationError as error:
        raise ParserCrash(f"output that does not fit: {error}"[:_MAX_DETAIL_CHARS]) from error


def _write_document(file: IO[bytes], document: bytes) -> None:
    file.write(document)
    file.seek(0)


async def run_sandboxed(
    command: Sequence[str],
    document: IO[bytes] | None,
    wall_seconds: float,
    max_bytes: int,
) -> bytes:
    """Run Python with the arguments `command`, and return its output.

    The command must set its own limits (`workers.sandbox.limits`). The child's environment contains only its import
    path. Raises Refused with the cause `too_much_text`, `time` or `computing_time`, and ParserCrash, also if a library
    ran out of memory and cannot report it."""
    async with _start_child(command, document) as process:
        try:
            async with asyncio.timeout(wall_seconds):
                output = await _read_output(cast(StreamReader, process.stdout), max_bytes)
                returncode = await process.wait()
        except TimeoutError:
            raise Refused("time") from None
    if -returncode == signal.SIGXCPU:
        raise Refused("computing_time")
    if returncode:
        raise ParserCrash(f"signal {-returncode}" if returncode < 0 else f"exit status {returncode}")
    return output


@asynccontextmanager
async def _start_child(command: Sequence[str], document: IO[bytes] | None) -> AsyncIterator[Process]:
    """Start a child process. If it is still running on exit, kill it together with all processes that it started.

    `communicate` then reads the remaining output, because `wait` returns only after the end of the pipe."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-B", *command,
        stdin=DEVNULL if document is None else document, stdout=PIPE, stderr=DEVNULL, start_new_session=True,
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()


async def _read_output(stdout: StreamReader, max_bytes: int) -> bytes:
    pieces, length = [], 0
    while piece := await stdout.read(65_536):
        pieces.append(piece)
        length += len(piece)
        if length > max_bytes:
            raise Refused("too_much_text")
    return b"".join(pieces)
