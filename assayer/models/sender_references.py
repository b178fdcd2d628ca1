"""References by which senders identify their proposals, in contrast to positions in the submitted file."""

import re

_NAMED_ROW = re.compile(r"(?:.*:\d+|row \d+) \((?P<reference>.+)\)", re.DOTALL)
"""Pattern for the name of a table row that has its own id: `call.csv:14 (A-2026-0007)`."""
_ROW = re.compile(r"(?:.*:\d+|row \d+)", re.DOTALL)


def reference_of_row(source: str) -> str | None:
    """Return the id in a table row as its sender wrote it; None if `source` is not the name of such a row."""
    found = _NAMED_ROW.fullmatch(source)
    return found["reference"] if found else None


def reference_in(source: str) -> str:
    """Return the id in the row, the file name, or the name under which an idea was sent. Returns an empty string for a
    row without an id, which has only a position."""
    found = reference_of_row(source)
    if found is not None:
        return found
    return "" if _ROW.fullmatch(source) else source


def own_reference(source: str, row: int | None) -> str:
    """Return the sender's reference as `reference_in` does. If `row` is None, the source is not part of a batch, and
    its whole name is the reference."""
    return source if row is None else reference_in(source)
