"""Lines of a large text, none of them longer than memory allows."""

import io
from collections.abc import Generator
from typing import BinaryIO, NamedTuple

from assayer.texts import Encoding

__all__ = ["Line", "lines"]


class Line(NamedTuple):
    text: str
    """With its end of line."""
    whole: bool
    """False when it was longer than allowed: what came after is left out."""


def lines(file: BinaryIO, encoding: Encoding, most: int) -> Generator[Line, None, None]:
    """Ends of line are `\\n`, `\\r\\n` and `\\r`; bytes that cannot be decoded are kept as surrogates.

    To be closed before the file is."""
    # No such bytes in UTF-16, where every pair is a character or half of one.
    errors = "replace" if encoding == "utf-16" else "surrogateescape"
    text = io.TextIOWrapper(file, encoding, errors, newline="")
    try:
        while line := text.readline(most + 1):
            whole = len(line) <= most or line.endswith(("\n", "\r"))
            rest = line
            while not rest.endswith(("\n", "\r")) and (rest := text.readline(most)):
                whole = False
            yield Line(line, whole)
    finally:
        text.detach()
