"""The proof of an erasure as a page of paper."""

from assayer.models import Frozen
from assayer.reports.brief import BriefLine

__all__ = ["ErasurePage"]


class ErasurePage(Frozen):
    lines: tuple[BriefLine, ...]
    things: tuple[str, ...]
    """Ids."""
    number: int
    """Of the entry of the audit log."""
    year: int
    month: int
    day: int
