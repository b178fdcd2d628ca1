"""Ids that senders use for their own proposals, as opposed to row numbers in the submitted file."""

import re

_NAMED_ROW = re.compile(r"(?:.*:\d+|row \d+) \((?P<reference>.+)\)", re.DOTALL)
"""Pattern for the source name of a table row with its own id: `call.csv:14 (A-2026-0007)`."""
_ROW = re.compile(r"(?:.*:\d+|row \d+)", re.DOTALL)


def reference_of_row(source: str) -> str | None:
    """Return the sender's id for a table row; None if `source` does not name a row with an id."""
    match = _NAMED_ROW.fullmatch(source)
    return match["reference"] if match else None


def reference_in(source: str) -> str:
    """Return the sender's reference in a source name: the id of a table row, an empty string for a row without an id,
    or otherwise the whole name, such as a file name."""
    reference = reference_of_row(source)
    if reference is not None:
        return reference
    return "" if _ROW.fullmatch(source) else source


def get_own_reference(source: str, row: int | None) -> str:
    """Return the sender's reference for a source. If `row` is None, the source is not part of a batch, and its whole
    name is the reference; otherwise it is found as in `reference_in`."""
    return source if row is None else reference_in(source)
