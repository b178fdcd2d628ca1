"""What the sender of a proposal calls it, apart from where it stood in what they sent."""

import re

__all__ = ["own_reference", "reference_in", "reference_of_row"]

_NAMED_ROW = re.compile(r"(?:.*:\d+|row \d+) \((?P<reference>.+)\)", re.DOTALL)
"""As a row of a table with an id of its own is named: `call.csv:14 (A-2026-0007)`."""
_ROW = re.compile(r"(?:.*:\d+|row \d+)", re.DOTALL)


def reference_of_row(source: str) -> str | None:
    """The id that a row of a table holds, as its sender wrote it; None where the name is of another kind."""
    found = _NAMED_ROW.fullmatch(source)
    return found["reference"] if found else None


def reference_in(source: str) -> str:
    """The id in its row, a file's name, or the name that an idea was sent under. Empty for a row without an id, which
    has a place and no name."""
    found = reference_of_row(source)
    if found is not None:
        return found
    return "" if _ROW.fullmatch(source) else source


def own_reference(source: str, row: int | None) -> str:
    """As `reference_in`; what is in no batch has `row` None, and its whole name for a reference."""
    return source if row is None else reference_in(source)
