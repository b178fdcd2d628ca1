"""Find a quote in its source: the same words, numbers, signs and negations, in the same order and in one place.

Both texts are normalised (`assayer.citing.spelling`) and compared without gaps, so that `agree-\\nment` matches
`agreement`; then the gaps are compared, so that `able` does not match inside `unable`. If there is no exact match, a
long quote may contain a few slips (`assayer.citing.slips`). Results are offsets in the source, from which callers cut
the quote to show.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from assayer.citing.slips import find_with_slips
from assayer.citing.spelling import NEGATIONS, Letters, find_letters, find_origins, normalise_words, unify_forms

MIN_CHARS = 12
"""Minimum number of letters and digits in a quote, and in each piece of a quote with an ellipsis; fewer would match
anywhere."""
MAX_PLACES = 8
"""Maximum number of places in a source that are checked; words that occur in more places are too common to be a
quote."""
_CACHED_TEXTS = 256
_CACHED_CHARACTERS = 8_000
"""Maximum length of a text whose letters are cached, in characters. It bounds the caches to about 60 MB."""
MAX_WORDS_NEAR_ELLIPSIS = 3
"""Number of omitted words at each end of an ellipsis that are searched for negations."""
_ELLIPSIS = re.compile(r"[\[(]?[^\S\n]?\.(?:\s?\.){2,}\s?[\])]?")


class SourceSpan(NamedTuple):
    """A span of the source, from `start` (inclusive) to `end` (exclusive)."""

    start: int
    end: int


def occurs_in(quote: str, source: str) -> bool:
    """Return whether the quote's words occur in the source, and no negation next to an ellipsis was left out."""
    return any(
        not _omits_negation(_reduce_to_letters(source), occurrence) for occurrence in _find_occurrences(quote, source)
    )


def find_quote(quote: str, source: str) -> Iterator[tuple[SourceSpan, ...]]:
    """Yield up to `MAX_PLACES` places in the source where the quote's words occur. An ellipsis at either end of the
    quote is ignored. An ellipsis inside it stands for omitted words; each piece then gets its own span, in order."""
    for occurrence in islice(_find_occurrences(quote, source), MAX_PLACES):
        starts, ends = (_index_and_cache_origins if len(source) <= _CACHED_CHARACTERS else _index_origins)(source)
        yield tuple(
            _extend_to_outer_marks(SourceSpan(starts[start], ends[end - 1]), source) for start, end in occurrence
        )


_Place = tuple[int, int]
"""Start and end offset among a source's letters."""


def _reduce_to_letters(source: str) -> Letters:
    """Return a text reduced to its letters, for comparison. Cached because running evaluations check many quotes
    against the same paragraph."""
    return (
        _reduce_and_cache(source)
        if len(source) <= _CACHED_CHARACTERS
        else Letters.from_text(normalise_words(unify_forms(source)))
    )


@lru_cache(maxsize=_CACHED_TEXTS)
def _reduce_and_cache(source: str) -> Letters:
    return Letters.from_text(normalise_words(unify_forms(source)))


class _Origins(NamedTuple):
    """Where each letter comes from: start and end of the text in the source that it stands for."""

    starts: "array[int]"
    ends: "array[int]"


def _index_origins(source: str) -> _Origins:
    origins = find_origins(source)
    return _Origins(array("I", [start for start, _ in origins]), array("I", [end for _, end in origins]))


_index_and_cache_origins = lru_cache(maxsize=_CACHED_TEXTS)(_index_origins)


def _find_occurrences(quote: str, source: str) -> Iterator[tuple[_Place, ...]]:
    exact = _reduce_to_letters(quote)
    if _count_letters(exact.letters) < MIN_CHARS or len(source) < MIN_CHARS:
        return
    text = _reduce_to_letters(source)
    # First, assume that the ellipsis is part of the source, as in `x1, ..., xn`.
    has_exact_match = False
    for place in _find_exact(exact, text, 0):
        has_exact_match = True
        yield (place,)
    pieces = [
        Letters.from_text(letters)
        for piece in _ELLIPSIS.split(unify_forms(quote))
        if (letters := normalise_words(piece))
    ]
    if has_exact_match or any(_count_letters(piece.letters) < MIN_CHARS for piece in pieces):
        return
    for first_place in _find_anywhere(pieces[0], text, 0):
        following_places = _find_in_order(pieces[1:], text, first_place[1])
        if following_places is not None:
            yield (first_place, *following_places)


def _find_in_order(pieces: list[Letters], source: Letters, start: int) -> tuple[_Place, ...] | None:
    places: list[_Place] = []
    for piece in pieces:
        place = next(_find_anywhere(piece, source, start), None)
        if place is None:
            return None
        places.append(place)
        start = place[1]
    return tuple(places)


def _find_anywhere(piece: Letters, source: Letters, start: int) -> Iterator[_Place]:
    has_exact_match = False
    for place in _find_exact(piece, source, start):
        has_exact_match = True
        yield place
    if not has_exact_match:
        inexact_place = find_with_slips(piece, source, start)
        if inexact_place is not None:
            yield inexact_place


def _find_exact(quote: Letters, source: Letters, search_start: int) -> Iterator[_Place]:
    """Yield the places where the quote occurs exactly, ignoring hyphens."""
    size = len(quote.letters)
    for position in find_letters(quote.letters, source.letters, search_start):
        if (
            source.can_start_at(position)
            and source.can_stop_at(position + size)
            and quote.has_same_gaps(1, source, position + 1, size - 1)
        ):
            yield position, position + size


def _omits_negation(source: Letters, occurrence: tuple[_Place, ...]) -> bool:
    """Return whether the words omitted at an ellipsis begin or end with a negation."""
    for (_, start), (end, _) in pairwise(occurrence):
        omitted_stops = source.stops[bisect_right(source.stops, start) - 1 : bisect_right(source.stops, end)]
        omitted_words = [source.letters[left:right] for left, right in pairwise(omitted_stops)]
        if not NEGATIONS.isdisjoint(omitted_words[:MAX_WORDS_NEAR_ELLIPSIS] + omitted_words[-MAX_WORDS_NEAR_ELLIPSIS:]):
            return True
    return False


def _count_letters(text: str) -> int:
    return sum(map(str.isalnum, text))


_CLOSED_BY = {"(": ")", "[": "]"}


def _extend_to_outer_marks(span: SourceSpan, source: str) -> SourceSpan:
    """Extend a span to include marks that belong to its outermost words: emphasis, and a bracket whose counterpart is
    inside the span."""
    start, end = span
    while start and source[start - 1] == "*":
        start -= 1
    while source[end : end + 1] == "*":
        end += 1
    for opening, closing in _CLOSED_BY.items():
        quoted_text = source[start:end]
        unclosed_count = quoted_text.count(opening) - quoted_text.count(closing)
        if unclosed_count > 0 and source[end : end + 1] == closing:
            end += 1
        if unclosed_count < 0 and source[start - 1 : start] == opening and start:
            start -= 1
    return SourceSpan(start, end)
