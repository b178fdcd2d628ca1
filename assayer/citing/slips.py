"""Find a long quote that differs from its source by a few typing or scanning errors (slips).

A slip is a difference in spelling that does not make a different word: British or American spelling, a doubled letter,
letters that a scanner confuses. All other words, numbers, signs and negations must be the same."""

import re
from collections.abc import Iterator

from assayer.citing.spelling import NEGATIONS, PREFIXES, Letters, find_letters
from assayer.text.scripts import count_unspaced_letters

WORDS_PER_SLIP = 8
"""One slip is allowed per this many words; a quote with fewer words must match exactly."""
MAX_WORDS = 400
"""Maximum number of words in a quote for which slips are allowed; a longer quote must match exactly. This bounds the
search."""
MAX_HITS = 8
"""Maximum number of places examined for each exactly matching segment."""

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
"""Letters that optical character recognition confuses."""


def find_with_slips(quote: Letters, source: Letters, search_start: int) -> tuple[int, int] | None:
    """Return where the quote occurs with at most one slip per `WORDS_PER_SLIP` words, or None. If a quote with n slips
    is split into n + 1 segments, at least one matches exactly, so only the places of these segments are searched."""
    words = quote.list_words()
    max_slips = len(words) // WORDS_PER_SLIP
    if not max_slips or len(words) > MAX_WORDS:
        return None
    for start in _find_candidate_starts(quote, source, search_start, max_slips):
        end = _match_words(quote, source, start, max_slips)
        if end is not None:
            return start, end
    return None


def _find_candidate_starts(quote: Letters, source: Letters, search_start: int, max_slips: int) -> Iterator[int]:
    """Yield the word starts at which the quote could begin, derived from an exact match of one segment, without
    duplicates."""
    words, seen = quote.list_words(), set[int]()
    for part in range(max_slips + 1):
        first, last = part * len(words) // (max_slips + 1), (part + 1) * len(words) // (max_slips + 1) - 1
        offset, stretch = words[first][0], quote.letters[words[first][0] : words[last][1]]
        for _, position in zip(range(MAX_HITS), find_letters(stretch, source.letters, search_start), strict=False):
            for start in range(max(search_start, position - offset - max_slips), position - offset + max_slips + 1):
                if start not in seen and source.can_start_at(start):
                    seen.add(start)
                    yield start


def _match_words(quote: Letters, source: Letters, start: int, max_slips: int) -> int | None:
    """Compare the quote word by word with the source from `start`. Returns where the quote ends in the source, or None
    if it does not match."""
    words, index, position = quote.list_words(), 0, start
    while index < len(words):
        left, right = words[index]
        word, end = quote.letters[left:right], source.find_word_end(position)
        if source.letters.startswith(word, position) and quote.has_same_gaps(
            left + 1, source, position + 1, right - left
        ):
            position, index = position + right - left, index + 1
            continue
        max_slips -= 1
        if max_slips < 0:
            return None
        step = _step_over_slip(quote, index, source, position, end)
        if step is None:
            return None
        index, position = step
    return position if source.can_stop_at(position) else None


def _step_over_slip(quote: Letters, index: int, source: Letters, at: int, end: int) -> tuple[int, int] | None:
    """Return the quote's next word and the place in the source after one slip, or None if the words do not match."""
    words = quote.list_words()
    left, right = words[index]
    word, source_word = quote.letters[left:right], source.letters[at:end]
    if _is_variant(word, source_word):
        return index + 1, end
    if index + 1 < len(words) and _is_joined(word, quote.letters[right : words[index + 1][1]], source_word):
        return index + 2, end
    beyond = source.find_word_end(end)
    if _is_joined(source_word, source.letters[end:beyond], word):
        return index + 1, beyond
    return None


def _is_joined(first: str, second: str, joined_word: str) -> bool:
    """Return whether two words together equal another spelling: `data set` and `dataset`. `not able` and `notable` do
    not count."""
    return (
        first + second == joined_word
        and joined_word.isalpha()
        and not count_unspaced_letters(joined_word)
        and min(len(first), len(second)) >= 3
        and NEGATIONS.isdisjoint((first, second, joined_word))
        and first not in PREFIXES
    )


def _is_variant(word: str, other_word: str) -> bool:
    """Return whether two words differ only in spelling. Without a dictionary, `addiction` cannot be told from a slip in
    `addition`. So only differences that rarely make a different word are accepted, and none at the start or end of a
    word (`a-`, `un-`, `-s`)."""
    if not (word.isalpha() and other_word.isalpha()) or min(len(word), len(other_word)) < 5:
        return False
    if count_unspaced_letters(word) or count_unspaced_letters(other_word):  # each letter counts as a word
        return False
    return _americanise(word) == _americanise(other_word) or _differs_by_one_slip(word, other_word)


def _americanise(word: str) -> str:
    for pattern, american in _BRITISH:
        word = pattern.sub(american, word)
    return word


def _differs_by_one_slip(word: str, other_word: str) -> bool:
    shorter, longer = sorted((word, other_word), key=len)
    if len(shorter) < 8 or len(longer) - len(shorter) > 1 or word[:2] != other_word[:2] or word[-2:] != other_word[-2:]:
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
    """Return whether the words differ by one confused pair. If the pair's letters are partly shared (`rnm` and `mm`),
    it starts at the first difference."""
    return any(
        shorter[start:].startswith(b) and longer[start:] == a + shorter[start + len(b) :]
        for a, b in _CONFUSED
        if len(a) > len(b)
    )
