"""The rule of the cutoff: what of the results of any source was published in a window of days.

Sources are told the window, and their answers are held against it here once more: papers of the corpus and of remote
sources, web pages and repositories alike. Something undated may have been published on any day, so only an open
window lets it in, unless who asks says otherwise.
"""

import datetime as dt
from collections.abc import Callable, Iterable
from typing import TypeVar

from assayer.models import OPEN, Paper, Window

__all__ = ["admits", "papers_within", "within"]

T = TypeVar("T")


def admits(window: Window, published: dt.date | None, *, undated: bool | None = None) -> bool:
    """Whether something published on that day counts. `undated`: whether something without a date does."""
    if published is not None:
        return window.contains(published)
    return window == OPEN if undated is None else undated


def within(
    results: Iterable[T], window: Window, published: Callable[[T], dt.date | None], *, undated: bool | None = None
) -> list[T]:
    """The results that count, in their order."""
    return [one for one in results if admits(window, published(one), undated=undated)]


def papers_within(papers: Iterable[Paper], window: Window) -> list[Paper]:
    """The papers that count, in their order."""
    return within(papers, window, lambda paper: paper.publication_date)
