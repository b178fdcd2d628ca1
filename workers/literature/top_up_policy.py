"""Decides whether remote sources top up what the local corpus answered. Pure.

A query is answered by the corpus when the corpus covers the field of the idea (its fit is good) and has several papers
near the query. A corpus that answers but ends long before the cutoff is topped up with what appeared since.
docs/adr/0008-local-first.md says how the numbers were chosen.
"""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import FitLevel, Window
from workers.literature.settings import LiteratureSettings

__all__ = ["CorpusCoverage", "top_up_window"]


class CorpusCoverage(NamedTuple):
    """What is known of the corpus when the question is asked."""

    fit: FitLevel | None
    """None while it has not been measured."""
    newest: dt.date | None
    """Day of its newest paper up to the cutoff; None when it has no dated one."""
    until: dt.date
    """The cutoff, or today."""


def top_up_window(
    corpus: CorpusCoverage, similarities: Sequence[float], settings: LiteratureSettings, window: Window
) -> Window | None:
    """The days of the window whose papers remote sources are asked for, given the cosines of the corpus's own answers
    to one query; None when they need not be asked."""
    near = sum(similarity >= settings.near for similarity in similarities)
    if corpus.fit != "good" or near < settings.near_enough or corpus.newest is None:
        return window
    stale = (corpus.until - corpus.newest).days > settings.fresh_days
    return window.intersection(Window(after=corpus.newest)) if stale else None
