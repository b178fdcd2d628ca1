"""Cutoff rule: decides which search results were published within a date window.

Sources already filter by the window; this module checks their results again, whether papers, web pages or repositories.
Undated results are admitted only if the window is unlimited, unless the caller decides otherwise."""

import datetime as dt
from collections.abc import Callable, Iterable
from typing import TypeVar

from assayer.errors import InputError
from assayer.models import OPEN, Paper, Window

T = TypeVar("T")


def check_cutoff(cutoff: dt.date | None, today: dt.date) -> None:
    """Raise InputError if the cutoff is in the future."""
    if cutoff is not None and cutoff > today:
        raise InputError(f"The cutoff {cutoff} is in the future.", "Give a past date or omit it.")


def admits(window: Window, published: dt.date | None, *, undated: bool | None = None) -> bool:
    """Return whether something published on this date lies in the window. `undated` is what to return if the date is
    unknown."""
    if published is not None:
        return window.contains(published)
    return window == OPEN if undated is None else undated


def keep_within_window(
    results: Iterable[T], window: Window, published: Callable[[T], dt.date | None], *, undated: bool | None = None
) -> list[T]:
    """Return the results that lie in the window, in their original order."""
    return [result for result in results if admits(window, published(result), undated=undated)]


def papers_within(papers: Iterable[Paper], window: Window) -> list[Paper]:
    """Return the papers published within the window, in their original order."""
    return keep_within_window(papers, window, lambda paper: paper.publication_date)
