"""Queries and DOIs as they stand in requests: nothing in them acts as an operator or leads elsewhere."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from urllib.parse import quote

__all__ = ["ARXIV_PREFIX", "allowed_in_filter", "path_segment", "plain_query", "url_batches"]


_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR", "TO"})
_LONGEST = 1500


def plain_query(text: str, longest: int = _LONGEST) -> str:
    """The words alone, as far as they fit into `longest` characters of a URL; empty when there are none.

    Quotes, brackets, wildcards and leading signs are gone; words that act as operators when written in
    capitals are in lower case.
    """
    words, length = list[str](), 0
    for word in _WORD.findall(unicodedata.normalize("NFC", text)):
        length += len(quote(word)) + 1
        if length > longest + 1:
            break
        words.append(word.lower() if word in _OPERATORS else word)
    return " ".join(words)


ARXIV_PREFIX = "10.48550/arxiv."
"""arXiv registers its DOIs with DataCite."""

_FILTER_SAFE_DOI = re.compile(r"10\.[a-z0-9._/()-]+", re.ASCII)


def allowed_in_filter(doi: str) -> bool:
    """Whether it can stand in a list of a filter, where commas, bars, colons and signs have a meaning."""
    return _FILTER_SAFE_DOI.fullmatch(doi) is not None


def path_segment(doi: str) -> str:
    """One segment of a path: no slash, dot segment or question mark of a DOI leads elsewhere."""
    return quote(doi, safe="")


def url_batches(values: Sequence[str], most: int, longest: int) -> Iterator[Sequence[str]]:
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
