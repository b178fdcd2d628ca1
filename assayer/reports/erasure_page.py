"""The proof of an erasure as a page of paper."""

from assayer.models import Frozen
from assayer.reports.brief import BriefLine

__all__ = ["ErasurePage"]


class ErasurePage(Frozen):
    lead: str
    """Whether anything of it is still stored."""
    lines: tuple[BriefLine, ...]
    technical: tuple[BriefLine, ...]
    """By which the erasure is found in the audit log; stands at the end, with the ids."""
    things: tuple[str, ...]
    """Ids."""
    number: int
    """Of the entry of the audit log."""
    year: int
    month: int
    day: int
