"""Lines of a text file of any size and encoding, each of bounded length."""

import codecs
import io
import re
from collections.abc import Callable, Generator
from typing import BinaryIO, NamedTuple

from assayer.errors import InputError
from assayer.text.decoding import encoding_name

_UNDECODABLE = re.compile("[\udc00-\udcff]{1,4}")
"""Bytes that could not be decoded, each as U+DC00 plus its value."""


def _escape_bytes(error: UnicodeError) -> tuple[str, int]:
    """Escape undecodable bytes as `surrogateescape` does, including bytes below 0x80, such as those of UTF-16."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error("assayer_escape", _escape_bytes)


class TooManyLines(InputError):
    """Error raised if there are too many lines; the lines after the limit are not read."""


class BoundedLine(NamedTuple):
    text: str
    """Text of the line with its line ending."""
    whole: bool
    """False if the line was longer than allowed and was truncated."""


def bounded_lines(
    file: BinaryIO, encoding: str, most: int, count: Callable[[], None]
) -> Generator[BoundedLine, None, None]:
    """Yield lines of at most `most` characters. Lines end with `\\n`, `\\r\\n` or `\\r`; bytes that cannot be decoded
    are kept as surrogates. `count` is called for each line; an error that it raises ends the reading. Close the
    generator before the file."""
    text = io.TextIOWrapper(file, encoding, "assayer_escape", newline="")
    try:
        while line := text.readline(most + 1):
            count()
            whole = len(line) <= most or line.endswith(("\n", "\r"))
            rest = line
            while not rest.endswith(("\n", "\r")) and (rest := text.readline(most)):
                whole = False
            yield BoundedLine(line, whole)
    finally:
        text.detach()


def check_readable(text: str, encoding: str, what: str, field: str = "") -> None:
    """Check that the text was decoded completely. Raises InputError if it contains bytes that are invalid in the file's
    encoding."""
    found = None
    try:
        text.encode()  # at least ten times faster than the search, during which no other thread can run
    except UnicodeEncodeError:
        found = _UNDECODABLE.search(text)
    if found:
        values = " ".join(f"0x{ord(byte) - 0xDC00:02X}" for byte in found[0])
        raise InputError(
            f"{what} contains the byte{'s' * (len(found[0]) > 1)} {values} after {found.start():,} characters, which "
            f"{'are' if len(found[0]) > 1 else 'is'} invalid in {encoding_name(encoding)}, the encoding of the file.",
            "Save the file as UTF-8.",
            field,
        )
