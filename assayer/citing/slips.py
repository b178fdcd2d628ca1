"""A quote that stands in its source but for a few slips of a hand or a scanner.

A long quote may differ from its source in a few words by a slip that makes no other word: a British letter, a doubled
letter, what a scanner confuses. All other words are then still the same, and so are all numbers, signs and negations,
since none of them may differ at all.
"""

import re
from collections.abc import Iterator

from assayer.citing.spelling import NEGATIONS, PREFIXES, Letters, places
from assayer.text.scripts import unspaced_letters

__all__ = ["with_slips"]

WORDS_PER_SLIP = 8
"""One word in so many may be slightly other; a quote shorter than this must be exact."""
MOST_WORDS = 400
"""A longer quote must be exact: bounds the search for slips."""
MOST_HITS = 8
"""Places looked at for one seed of that search."""

_BRITISH = [
    (re.compile(pattern), american)
    for pattern, american in (
        (r"(?<=[a-z]{2}[iy])s(?=(?:e[drs]?|ers|ing|ations?|able)$)", "z"),
        (r"(?<=[a-z]{2})our(?=$|s$|ed$|ing$|al|able|ite|ful)", "or"),
        (r"([tb])re(s?)$", r"\1er\2"),
        (r"([tb])red$", r"\1ered"),
        (r"ell(?=(?:ed|ing|ers?)$)", "el"),
        (r"[ao]e", "e"),
        (r"ogue(s?)$", r"og\1"),
        (r"^(def|off|lic|pret)ence(s?)$", r"\1ense\2"),
        (r"^sulph", "sulf"),
        (r"^programme(s?)$", r"program\1"),
        (r"dgement(s?)$", r"dgment\1"),
    )
]
_CONFUSED = (("rn", "m"), ("cl", "d"), ("vv", "w"), ("l", "i"), ("c", "e"), ("n", "u"))
"""What scanners take for each other."""


def with_slips(quote: Letters, source: Letters, since: int) -> tuple[int, int] | None:
    """Where the quote stands with at most one slip in `WORDS_PER_SLIP` words. With so few, one of as many stretches of
    the quote plus one is exact: the places of the stretches are the only ones to look at."""
    words = quote.words()
    most = len(words) // WORDS_PER_SLIP
    if not most or len(words) > MOST_WORDS:
        return None
    for start in _candidates(quote, source, since, most):
        end = _walk(quote, source, start, most)
        if end is not None:
            return start, end
    return None


def _candidates(quote: Letters, source: Letters, since: int, most: int) -> Iterator[int]:
    """Starts of words where the quote may begin, judging by an exact stretch of it; each once."""
    words, seen = quote.words(), set[int]()
    for part in range(most + 1):
        first, last = part * len(words) // (most + 1), (part + 1) * len(words) // (most + 1) - 1
        offset, stretch = words[first][0], quote.letters[words[first][0] : words[last][1]]
        for _, place in zip(range(MOST_HITS), places(stretch, source.letters, since), strict=False):
            for start in range(max(since, place - offset - most), place - offset + most + 1):
                if start not in seen and source.starts(start):
                    seen.add(start)
                    yield start


def _walk(quote: Letters, source: Letters, start: int, most: int) -> int | None:
    """Compares word by word from a place in the source; the end of the quote there, None when it does not stand."""
    words, index, at = quote.words(), 0, start
    while index < len(words):
        left, right = words[index]
        word, end = quote.letters[left:right], source.word_end(at)
        if source.letters.startswith(word, at) and quote.same_gaps(left + 1, source, at + 1, right - left):
            at, index = at + right - left, index + 1
            continue
        most -= 1
        if most < 0:
            return None
        step = _slip(quote, index, source, at, end)
        if step is None:
            return None
        index, at = step
    return at if source.stops_at(at) else None


def _slip(quote: Letters, index: int, source: Letters, at: int, end: int) -> tuple[int, int] | None:
    """The next word of the quote and the place in the source after one slip; None where the words are others."""
    words = quote.words()
    left, right = words[index]
    word, other = quote.letters[left:right], source.letters[at:end]
    if _is_variant(word, other):
        return index + 1, end
    if index + 1 < len(words) and _is_joined(word, quote.letters[right : words[index + 1][1]], other):
        return index + 2, end
    beyond = source.word_end(end)
    if _is_joined(other, source.letters[end:beyond], word):
        return index + 1, beyond
    return None


def _is_joined(first: str, second: str, both: str) -> bool:
    """`data set` and `dataset`; not `not able` and `notable`."""
    return (
        first + second == both
        and both.isalpha()
        and not unspaced_letters(both)
        and min(len(first), len(second)) >= 3
        and NEGATIONS.isdisjoint((first, second, both))
        and first not in PREFIXES
    )


def _is_variant(one: str, other: str) -> bool:
    """Whether two words differ by spelling alone. No dictionary tells `addiction` from a slip of `addition`, so only
    differences count that hardly ever lead to another word, and never one at a word's ends (`a-`, `un-`, `-s`)."""
    if not (one.isalpha() and other.isalpha()) or min(len(one), len(other)) < 5:
        return False
    if unspaced_letters(one) or unspaced_letters(other):  # each letter is a word
        return False
    return _american(one) == _american(other) or _is_slip(one, other)


def _american(word: str) -> str:
    for pattern, american in _BRITISH:
        word = pattern.sub(american, word)
    return word


def _is_slip(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < 8 or len(longer) - len(shorter) > 1 or one[:2] != other[:2] or one[-2:] != other[-2:]:
        return False
    start = next((i for i, pair in enumerate(zip(shorter, longer, strict=False)) if pair[0] != pair[1]), len(shorter))
    left, right = shorter[start:], longer[start:]
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    if any({left, right} == {a, b} for a, b in _CONFUSED) or _is_confused_pair(shorter, longer, start):
        return True
    if not left and len(right) == 1:
        return right == longer[start - 1] or right == longer[start + 1] or len(shorter) >= 10
    return len(shorter) >= 10 and len(left) == 2 and left == right[::-1]


def _is_confused_pair(shorter: str, longer: str, start: int) -> bool:
    """A confusion whose letters are shared in part (`rnm` and `mm`) starts where the words first differ."""
    return any(
        shorter[start:].startswith(b) and longer[start:] == a + shorter[start + len(b) :]
        for a, b in _CONFUSED
        if len(a) > len(b)
    )
