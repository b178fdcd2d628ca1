"""Encode queries and DOIs for requests, so that nothing in them acts as an operator or changes the target."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from urllib.parse import quote

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR", "TO"})
_MAX_CHARS = 1500


def strip_to_words(text: str, max_chars: int = _MAX_CHARS) -> str:
    """Strip a text to its words, keeping as many as fit into `max_chars` URL-encoded characters; empty if there are
    none.

    Quotes, brackets, wildcards and leading signs are removed. Words such as AND, which act as operators in capitals,
    are converted to lower case."""
    words, length = list[str](), 0
    for word in _WORD.findall(unicodedata.normalize("NFC", text)):
        length += len(quote(word)) + 1
        if length > max_chars + 1:
            break
        words.append(word.lower() if word in _OPERATORS else word)
    return " ".join(words)


ARXIV_PREFIX = "10.48550/arxiv."
"""Prefix of arXiv's DOIs, which are registered with DataCite."""

_FILTER_SAFE_DOI = re.compile(r"10\.[a-z0-9._/()-]+", re.ASCII)


def is_allowed_in_filter(doi: str) -> bool:
    """Return whether the DOI can be used in a filter list, in which commas, bars, colons and signs have special
    meanings."""
    return _FILTER_SAFE_DOI.fullmatch(doi) is not None


def encode_path_segment(name: str, safe: str = "") -> str:
    """Encode a DOI or another id as a single path segment, so that slashes, dot segments and question marks do not
    change the target. Characters in `safe` are not encoded."""
    return quote(name, safe)


def split_into_url_batches(values: Sequence[str], max_values: int, max_chars: int) -> Iterator[Sequence[str]]:
    """Yield batches of up to `max_values` values whose URL-encoded length is at most `max_chars`."""
    start = length = 0
    for end, value in enumerate(values):
        value_chars = len(quote(value, safe="")) + len("%7C")
        if end > start and (end - start == max_values or length + value_chars > max_chars):
            yield values[start:end]
            start, length = end, 0
        length += value_chars
    if start < len(values):
        yield values[start:]
