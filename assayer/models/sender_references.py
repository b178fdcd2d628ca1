"""References by which senders identify their proposals, as opposed to positions in the submitted file."""

import re

_NAMED_ROW = re.compile(r"(?:.*:\d+|row \d+) \((?P<reference>.+)\)", re.DOTALL)
"""Pattern for the name of a table row that has its own id: `call.csv:14 (A-2026-0007)`."""
_ROW = re.compile(r"(?:.*:\d+|row \d+)", re.DOTALL)


def reference_of_row(source: str) -> str | None:
    """Return the id that the sender gave to a table row; None if `source` does not name a row with an id."""
    found = _NAMED_ROW.fullmatch(source)
    return found["reference"] if found else None


def reference_in(source: str) -> str:
    """Return the reference in the name of a source: the id of a row, or otherwise the whole name, such as a file name.
    Returns an empty string for a row without an id."""
    found = reference_of_row(source)
    if found is not None:
        return found
    return "" if _ROW.fullmatch(source) else source


def own_reference(source: str, row: int | None) -> str:
    """Return the sender's reference as `reference_in` does. If `row` is None, the source is not part of a batch, and
    its whole name is the reference."""
    return source if row is None else reference_in(source)
