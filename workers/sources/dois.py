"""DOIs as they stand in requests. A DOI may hold nearly any character; not every place of a request may."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

__all__ = ["ARXIV_PREFIX", "batches", "in_path", "listable"]

ARXIV_PREFIX = "10.48550/arxiv."
"""arXiv registers its DOIs with DataCite."""

_LISTABLE = re.compile(r"10\.[a-z0-9._/()-]+", re.ASCII)


def listable(doi: str) -> bool:
    """Whether it can stand in a list of a filter, where commas, bars, colons and signs have a meaning."""
    return _LISTABLE.fullmatch(doi) is not None


def in_path(doi: str) -> str:
    """One segment of a path: no slash, dot segment or question mark of a DOI leads elsewhere."""
    return quote(doi, safe="")


def batches(values: Sequence[str], most: int, longest: int) -> Iterator[Sequence[str]]:
    """Runs of at most `most` values that take up to `longest` characters of a URL together."""
    start = length = 0
    for end, value in enumerate(values):
        needed = len(quote(value, safe="")) + len("%7C")
        if end > start and (end - start == most or length + needed > longest):
            yield values[start:end]
            start, length = end, 0
        length += needed
    if start < len(values):
        yield values[start:]
