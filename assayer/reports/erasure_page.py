"""Proof of an erasure, as a printable page."""

import datetime as dt

from assayer.models import Frozen
from assayer.reports.brief import BriefLine


class ErasurePage(Frozen):
    lead: str
    """Statement on whether any of the data is still stored."""
    lines: tuple[BriefLine, ...]
    technical: tuple[BriefLine, ...]
    """Details for finding the erasure in the audit log; placed at the end, with the ids."""
    things: tuple[str, ...]
    """Ids of the deleted data."""
    number: int
    """Number of the entry in the audit log."""
    day: dt.date
