"""Read JSON Lines files, plain or gzipped. Each line yields an object, or the reason why it is rejected."""

import gzip
import zlib
from collections.abc import Iterator
from typing import IO, Any, NamedTuple, cast

from pydantic_core import from_json

MAX_LINE_BYTES = 64 * 2**20
"""Maximum number of bytes per line. The longest lines in s2orc have a few million."""
DAMAGED = "the compressed file is damaged or cut off here"
DAMAGE_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)
"""Exceptions raised by reading a damaged gzip file."""
_GZIP = b"\x1f\x8b"


class JsonLine(NamedTuple):
    number: int
    """Line number, counted from 1."""
    data: dict[str, Any] | str
    """Parsed object, or the reason why there is none."""
    size: int
    """Size in bytes after decompression."""


def read_lines(file: IO[bytes]) -> Iterator[JsonLine]:
    """Yield the lines of a file. Blank lines are skipped. If the file is damaged, the lines before the damage are
    kept."""
    number = 0
    try:
        for number, line in enumerate(read_bounded_lines(file), start=1):
            if line is None:
                yield JsonLine(number, f"the line has more than {MAX_LINE_BYTES:,} bytes", 0)
            elif line.strip():
                yield JsonLine(number, _parse_object(line, is_first=number == 1), len(line))
    except DAMAGE_ERRORS:
        yield JsonLine(number + 1, DAMAGED, 0)


def read_bounded_lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield decompressed lines; None for a line that is too long. Raises one of DAMAGE_ERRORS if the file is
    damaged."""
    is_compressed = file.read(2) == _GZIP
    file.seek(0)
    stream = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if is_compressed else file
    while line := stream.readline(MAX_LINE_BYTES + 1):
        if len(line) <= MAX_LINE_BYTES:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE_BYTES)
        yield None


def _parse_object(line: bytes, is_first: bool) -> dict[str, Any] | str:
    try:
        text = line.decode("utf-8-sig" if is_first else "utf-8")
    except UnicodeDecodeError:
        return "not UTF-8"
    try:
        data = from_json(text, allow_inf_nan=True, cache_strings="keys")
    except ValueError:
        return "not valid JSON"
    return data if isinstance(data, dict) else "not a JSON object"
