"""Where a quote stands in its source: the same words, numbers, signs and negations, in one place and in order.

Both texts are spelled in one way (`assayer.citing.spelling`), then compared without gaps, so that `agree-\\nment` is
`agreement`; after that the gaps must agree too, so that `able` is not found in `unable`. Where that finds nothing, a
long quote may differ from its source by a few slips (`assayer.citing.slips`). What is found is told as places of the
source itself: whoever shows a quote cuts it from there.
"""

import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from assayer.citing.slips import with_slips
from assayer.citing.spelling import NEGATIONS, Letters, origins, places, spelled, unified
from assayer.text.byte_bound_cache import byte_bound_cache

__all__ = ["SourceSpan", "find_quote", "stands_in"]

SHORTEST = 12
"""Letters and digits of a quote, and of each piece of a quote with an ellipsis; less would be found anywhere."""
MOST_PLACES = 8
"""Where one quote is looked at in one source; words that stand in more places are hardly anybody's."""
MOST_CACHED_BYTES = 32 * 2**20
"""Of the spelled texts that are kept, and as many of where their letters stand: some 1,000 abstracts."""
_BYTES_OF_A_PLACE = 32
NEAR_CUT = 3
"""Words next to an ellipsis that it must not have taken out if they negate."""
_ELLIPSIS = re.compile(r"[\[(]?[^\S\n]?\.(?:\s?\.){2,}\s?[\])]?")


class SourceSpan(NamedTuple):
    """A stretch of a source, from `start` up to `end`."""

    start: int
    end: int


def stands_in(quote: str, source: str) -> bool:
    """Whether the words of the quote stand in the source, and none was left out beside an ellipsis that negates."""
    return any(not _negated(_letters(source), found) for found in _standing(quote, source))


def find_quote(quote: str, source: str) -> Iterator[tuple[SourceSpan, ...]]:
    """The places in the source where the words of the quote stand, at most a few. An ellipsis at the quote's ends is
    nothing; one inside stands for words left out, and then there is a span for each piece, in order."""
    for found in islice(_standing(quote, source), MOST_PLACES):
        starts, ends = _origins(source)
        yield tuple(_whole(SourceSpan(starts[start], ends[end - 1]), source) for start, end in found)


_Place = tuple[int, int]
"""Start and end among the letters of a source."""


def _bytes_of_letters(source: str, made: Letters) -> int:
    # Of each gap a place, which its list of spaces shares, beside the two tables' own bytes.
    tables = sys.getsizeof(made.gaps) + sys.getsizeof(made.stops) + _BYTES_OF_A_PLACE * len(made.gaps)
    return sys.getsizeof(source) + sys.getsizeof(made.letters) + tables


@byte_bound_cache(MOST_CACHED_BYTES, _bytes_of_letters)
def _letters(source: str) -> Letters:
    """Kept, since one paragraph is asked about many quotes, in each of the evaluations under way."""
    return Letters.of(spelled(unified(source)))


class _Origins(NamedTuple):
    """Of each letter where what it came from starts and ends in the source."""

    starts: "array[int]"
    ends: "array[int]"


def _bytes_of_origins(source: str, made: _Origins) -> int:
    return sys.getsizeof(source) + sys.getsizeof(made.starts) + sys.getsizeof(made.ends)


@byte_bound_cache(MOST_CACHED_BYTES, _bytes_of_origins)
def _origins(source: str) -> _Origins:
    found = origins(source)
    return _Origins(array("I", [start for start, _ in found]), array("I", [end for _, end in found]))


def _standing(quote: str, source: str) -> Iterator[tuple[_Place, ...]]:
    exact = _letters(quote)
    if _size(exact.letters) < SHORTEST or len(source) < SHORTEST:
        return
    text = _letters(source)
    # First as if an ellipsis stood in the source too, as in `x1, ..., xn`.
    found = False
    for place in _exact(exact, text, 0):
        found = True
        yield (place,)
    pieces = [Letters.of(one) for piece in _ELLIPSIS.split(unified(quote)) if (one := spelled(piece))]
    if found or any(_size(piece.letters) < SHORTEST for piece in pieces):
        return
    for first in _anywhere(pieces[0], text, 0):
        rest = _in_order(pieces[1:], text, first[1])
        if rest is not None:
            yield (first, *rest)


def _in_order(pieces: list[Letters], source: Letters, since: int) -> tuple[_Place, ...] | None:
    found: list[_Place] = []
    for piece in pieces:
        place = next(_anywhere(piece, source, since), None)
        if place is None:
            return None
        found.append(place)
        since = place[1]
    return tuple(found)


def _anywhere(piece: Letters, source: Letters, since: int) -> Iterator[_Place]:
    found = False
    for place in _exact(piece, source, since):
        found = True
        yield place
    if not found:
        slipped = with_slips(piece, source, since)
        if slipped is not None:
            yield slipped


def _exact(quote: Letters, source: Letters, since: int) -> Iterator[_Place]:
    """Where the quote stands, hyphens aside."""
    size = len(quote.letters)
    for at in places(quote.letters, source.letters, since):
        if source.starts(at) and source.stops_at(at + size) and quote.same_gaps(1, source, at + 1, size - 1):
            yield at, at + size


def _negated(source: Letters, found: tuple[_Place, ...]) -> bool:
    """Whether what an ellipsis left out begins or ends with a negation."""
    for (_, start), (end, _) in pairwise(found):
        inside = source.stops[bisect_right(source.stops, start) - 1 : bisect_right(source.stops, end)]
        words = [source.letters[left:right] for left, right in pairwise(inside)]
        if not NEGATIONS.isdisjoint(words[:NEAR_CUT] + words[-NEAR_CUT:]):
            return True
    return False


def _size(text: str) -> int:
    return sum(map(str.isalnum, text))


_CLOSED_BY = {"(": ")", "[": "]"}


def _whole(span: SourceSpan, source: str) -> SourceSpan:
    """With the marks that belong to its outermost words: a bracket whose other half is inside, emphasis."""
    start, end = span
    while start and source[start - 1] == "*":
        start -= 1
    while source[end : end + 1] == "*":
        end += 1
    for opening, closing in _CLOSED_BY.items():
        inside = source[start:end]
        missing = inside.count(opening) - inside.count(closing)
        if missing > 0 and source[end : end + 1] == closing:
            end += 1
        if missing < 0 and source[start - 1 : start] == opening and start:
            start -= 1
    return SourceSpan(start, end)
