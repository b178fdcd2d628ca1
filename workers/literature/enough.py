"""Is what the local corpus answered enough, or must remote sources be asked? Pure.

A query is answered by the corpus when the corpus covers the field of the idea (its fit is good) and has several papers
near the query. A corpus that answers but ends long before the cutoff is topped up with what appeared since.
docs/adr/0008-local-first.md says how the numbers were chosen.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Literal, NamedTuple

from workers.literature.settings import LiteratureSettings
from workers.sources.source import Window

__all__ = ["Local", "need"]

Level = Literal["good", "partial", "poor"]


class Local(NamedTuple):
    """What is known of the corpus when the question is asked."""

    fit: Level | None
    """None when nobody has measured it."""
    newest: dt.date | None
    """Day of its newest paper up to the cutoff; None when it has no dated one."""
    until: dt.date
    """The cutoff, or today."""


def need(
    local: Local, similarities: Sequence[float], settings: LiteratureSettings, before: dt.date | None
) -> Window | None:
    """The days whose papers remote sources are asked for, given the cosines of the corpus's own answers to one query;
    None when they need not be asked."""
    near = sum(similarity >= settings.near for similarity in similarities)
    if local.fit != "good" or near < settings.near_enough or local.newest is None:
        return Window(None, before)
    stale = (local.until - local.newest).days > settings.fresh_days
    return Window(local.newest, before) if stale else None
