"""Lines of a text file of any size and encoding, each of bounded length."""

import io
import re
from collections.abc import Callable, Generator
from typing import BinaryIO, NamedTuple

from assayer.errors import InputError
from assayer.text.decoding import encoding_name

_UNDECODABLE = re.compile("[\udc80-\udcff]")
"""Bytes that could not be decoded, as `surrogateescape` represents them."""


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
    """Yield lines of at most `most` characters. Ends of line are `\\n`, `\\r\\n` and `\\r`; bytes that cannot be
    decoded are kept as surrogates. `count` is called for each line; an error that it raises ends the reading. Close
    the generator before the file."""
    # UTF-16 and UTF-32 have no single bytes to escape: every unit is a character or half of one.
    errors = "replace" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
    text = io.TextIOWrapper(file, encoding, errors, newline="")
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
    if found := _UNDECODABLE.search(text):
        raise InputError(
            f"{what} contains the byte 0x{ord(found[0]) - 0xDC00:02X} after {found.start():,} characters, which is "
            f"invalid in {encoding_name(encoding)}, the encoding of the file.",
            "Save the file as UTF-8.",
            field,
        )
