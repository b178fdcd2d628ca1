"""Text from outside in a table that a spreadsheet opens."""

from assayer.reports.outside import one_line

__all__ = ["cell"]

_FORMULAS = ("=", "+", "-", "@")
"""With which a spreadsheet takes a cell for a formula and carries it out."""


def cell(text: str) -> str:
    """On one line; what would be a formula is marked as text."""
    line = one_line(text)
    return f"'{line}" if line.startswith(_FORMULAS) else line
