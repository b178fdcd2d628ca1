"""Proof of an erasure, as a printable page."""

import datetime as dt

from assayer.models import Frozen
from assayer.reports.brief import BriefLine


class ErasurePage(Frozen):
    lead: str
    """Statement of whether any data is still stored."""
    lines: tuple[BriefLine, ...]
    technical: tuple[BriefLine, ...]
    """Data for finding the erasure in the audit log; placed at the end, with the ids."""
    things: tuple[str, ...]
    """Ids."""
    number: int
    """Number of the entry in the audit log."""
    day: dt.date
