"""Which papers a search is about, besides its words."""

import datetime as dt

from assayer.models.base import Frozen
from assayer.models.paper import PaperId

__all__ = ["Filters"]


class Filters(Frozen):
    """All must hold. Names are compared without regard to case."""

    before: dt.date | None = None
    """The last day that counts; with one, undated papers do not."""
    after: dt.date | None = None
    """The first day that counts."""
    venues: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    """Of study; a paper of one of them counts."""
    retracted: bool | None = None
    """None: both kinds count."""
    without: frozenset[PaperId] = frozenset()

    @property
    def only_before(self) -> bool:
        """Nothing but a cutoff, if that."""
        return self == Filters(before=self.before)
