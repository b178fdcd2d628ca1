"""Whether a quote stands in its source: the same words, numbers, signs and negations, in one place and in order.

Both texts are spelled in one way (case, typographic forms, line breaks), then compared without gaps, so that
`agree-\\nment` is `agreement`; after that the gaps must agree too, so that `able` is not found in `unable`. What
survives of punctuation is what carries meaning: decimal points, signs of comparison, per cent, a minus before a
number. Where that finds nothing, a long quote may differ from its source in a few words by a slip that makes no
other word: a British letter, a doubled letter, what a scanner confuses. All other words are then still the same,
and so are all numbers, signs and negations, since none of them may differ at all.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

__all__ = ["stands_in"]

SHORTEST = 12
"""Letters and digits of a quote, and of each piece of a quote with an ellipsis; less would be found anywhere."""
WORDS_PER_SLIP = 8
"""One word in so many may be slightly other; a quote shorter than this must be exact."""
MOST_WORDS = 400
"""A longer quote must be exact: bounds the search for slips."""
MOST_HITS = 8
"""Places looked at for one seed of that search."""
NEAR_CUT = 3
"""Words next to an ellipsis that it must not have taken out if they negate."""

_HYPHEN, _BROKEN, _TIED = "\ue000", "\ue001", "\ue002"
"""A hyphen in a word; a hyphen and then space, as at a line's end; a dash right before a digit (`GPT-4`, `2-15`),
which is no gap at all."""
_SIGNS = "<>=≤≥≠≈≪≫±%‰+−"
_BEFORE_NUMBER = frozenset("<>≤≥≠≈≪≫±+−")
_AFTER_NUMBER = frozenset("%‰")

_NEGATIONS = frozenset(
    (
        "no", "not", "non", "nor", "none", "never", "neither", "nobody", "nothing", "nowhere", "without", "cannot",
        "cant", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "wont", "wouldnt", "shouldnt",
        "couldnt", "hasnt", "havent", "hadnt", "mustnt", "hardly", "barely", "scarcely", "rarely", "seldom",
    )
)  # fmt: skip
_PREFIXES = frozenset(("a", "an", "anti", "de", "dis", "il", "im", "in", "ir", "mis", "non", "un"))
"""What, hyphenated, turns the word after it into its opposite."""

_INVISIBLE = re.compile("[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ue000-\ue002]")
_RAISED = re.compile("(?<=[0-9])([²³¹⁰⁴-⁹⁺⁻₀-₉¼-¾⅐-⅞])")
"""Compatibility forms would melt into the number before them: 10³ is not 103."""
_TYPOGRAPHY = {
    character: plain
    for characters, plain in (("‘’‚‛ʼ´`′", "'"), ("‐‑‒–", "-"), ("—―", " "), ("≦⩽", "≤"), ("≧⩾", "≥"), ("∼≃≅", "≈"))
    for character in characters
}
_TYPOGRAPHIC = re.compile(f"[{''.join(_TYPOGRAPHY)}]")
_MIDDLE_DOT = re.compile(r"(?<=[0-9])·(?=[0-9])")
_ELLIPSIS = re.compile(r"[\[(]?\s*\.(?:\s?\.){2,}\s*[\])]?")
_COMPOUND = re.compile(r"<=|>=|!=|\+/?-|\\(?:leq?|geq?|pm)(?![a-z])")
_COMPOUND_SIGNS = {"<": "≤", ">": "≥", "!": "≠", "+": "±", "\\l": "≤", "\\g": "≥", "\\p": "±"}
_DASHES = re.compile(
    r"[-−](?:(?P<tied>(?<=[^\W_].)(?=[0-9])|(?<=[0-9].)(?:-(?=[0-9])|\s*\n\s*(?=[0-9])))"
    r"|(?P<minus>(?<![^\W_].)(?=\.?[0-9])|(?<=−)(?=\s?\.?[0-9]))"
    r"|(?P<hyphen>(?<=[^\W_].)(?=[^\W\d_]))"
    r"|(?P<broken>(?<=[^\W_].)\s+(?=[^\W\d_])))"
)
"""Begins with what it looks for, like the patterns below: several times faster."""
_DASH_AS = {"tied": _TIED, "minus": "−", "hyphen": _HYPHEN, "broken": _BROKEN}
_IN_WORD = re.compile(r"'(?<=[^\W\d_].)(?=[^\W\d_])|\*\*(?<=[^\W\d_]..)(?=[^\W\d_])")
"""Apostrophes, and the emphasis of `**V**iGLUE`."""
_BARE_POINT = re.compile(r"\.(?<![\w.].)(?=[0-9])")
_MARKS = re.compile(rf"[^\w\s{_SIGNS}{_HYPHEN}{_BROKEN}{_TIED}.,]+")
_POINTS = re.compile(r"[.,](?:(?![0-9])|(?<![0-9].))|\+(?!\.?[0-9])")
"""Those of sentences and lists; the ones in numbers stay."""
_SIGN = re.compile(f"[{_SIGNS}]")
_GAP = re.compile(f"[ {_HYPHEN}{_BROKEN}]")

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


def stands_in(quote: str, source: str) -> bool:
    """Whether the words of the quote stand in the source. An ellipsis at its ends is nothing; one inside stands for
    words left out, and then all pieces must stand in the source in order."""
    quote, source = _unified(quote), _unified(source)
    text = _spelled(source)
    whole = _spelled(quote)
    if _size(whole) < SHORTEST:
        return False
    if _verbatim(whole, text):
        return True
    pieces = [spelled for piece in _ELLIPSIS.split(quote) if (spelled := _spelled(piece))]
    if any(_size(piece) < SHORTEST for piece in pieces):
        return False
    return _in_order([_Text.of(piece) for piece in pieces], _Text.of(text), exact=_Text.of(whole))


def _in_order(pieces: list["_Text"], source: "_Text", exact: "_Text") -> bool:
    """`exact` is the quote as if its ellipsis stood in the source too, as in `x1, ..., xn`."""
    if _exact(exact, source, 0) is not None:
        return True
    reached: int | None = None
    for piece in pieces:
        found = _exact(piece, source, reached or 0) or _with_slips(piece, source, reached or 0)
        if found is None or (reached is not None and source.negated(reached, found[0])):
            return False
        reached = found[1]
    return reached is not None


def _size(spelled: str) -> int:
    return sum(map(str.isalnum, spelled))


# Spelling


def _unified(text: str) -> str:
    """Unicode's many forms of one character made one; lower case. Line ends stay."""
    if "&" in text:
        text = html.unescape(text)
    if text.isascii():
        return text.lower().replace("`", "'")
    text = unicodedata.normalize("NFKC", _RAISED.sub(r" \1", _INVISIBLE.sub("", text)))
    text = unicodedata.normalize("NFKC", text.casefold())
    text = _TYPOGRAPHIC.sub(lambda match: _TYPOGRAPHY[match[0]], _INVISIBLE.sub("", text))
    return _MIDDLE_DOT.sub(".", text)


def _spelled(text: str) -> str:
    """Words, numbers and signs with one gap between any two of them: a space, or a mark for a hyphen."""
    text = _COMPOUND.sub(lambda match: _COMPOUND_SIGNS[match[0][: 1 + (match[0][0] == "\\")]], text)
    text = _DASHES.sub(lambda match: _DASH_AS[match.lastgroup or ""], text)
    text = _BARE_POINT.sub("0.", _IN_WORD.sub("", text))
    text = _POINTS.sub(" ", _MARKS.sub(" ", text.replace("_", " ")))
    return " ".join(_SIGN.sub(r" \g<0> ", text).split())


class _Text(NamedTuple):
    """A spelled text without its gaps, and where they were."""

    letters: str
    gaps: dict[int, str]
    """Kind of the gap before the letter at a position; the text's two ends are spaces."""
    stops: list[int]
    """Positions of the spaces, in order."""

    @classmethod
    def of(cls, spelled: str) -> "_Text":
        gaps = {0: " "}
        for number, match in enumerate(_GAP.finditer(spelled)):
            gaps[match.start() - number] = match[0]
        letters = _GAP.sub("", spelled)
        gaps[len(letters)] = " "
        return cls(letters, gaps, [place for place, kind in gaps.items() if kind == " "])

    def words(self) -> list[tuple[int, int]]:
        return list(pairwise(self.stops))

    def word_end(self, place: int) -> int:
        """The next space after a place; the place itself at the end of the text."""
        index = bisect_right(self.stops, place)
        return self.stops[index] if index < len(self.stops) else place

    def starts(self, place: int) -> bool:
        """Whether a quote can begin here: at a space, with no sign or hyphenated negation cut off."""
        kind = self.gaps.get(place)
        if kind == " ":
            before, after = self.letters[place - 1 : place] if place else "", self.letters[place : place + 1]
            return not (after.isdigit() and before in _BEFORE_NUMBER and before)
        return kind == _BROKEN and self.letters[self._gap_before(place) : place] not in _PREFIXES

    def stops_at(self, place: int) -> bool:
        """Whether a quote can end here: at a space, with no per cent sign cut off."""
        after = self.letters[place : place + 1]
        cut = after in _AFTER_NUMBER and self.letters[place - 1].isdigit() if after else False
        return self.gaps.get(place) in {" ", _BROKEN} and not cut

    def negated(self, start: int, end: int) -> bool:
        """Whether what an ellipsis left out begins or ends with a negation."""
        inside = self.stops[bisect_right(self.stops, start) - 1 : bisect_right(self.stops, end)]
        words = [self.letters[left:right] for left, right in pairwise(inside)]
        return not _NEGATIONS.isdisjoint(words[:NEAR_CUT] + words[-NEAR_CUT:])

    def _gap_before(self, place: int) -> int:
        return next(at for at in range(place - 1, -1, -1) if at in self.gaps)


# The same words


def _verbatim(quote: str, source: str) -> bool:
    """The quick way: the same text, gaps and all."""
    at = f" {source} ".find(f" {quote} ")
    if at < 0:
        return False
    before, after = source[at - 2 : at - 1] if at > 1 else "", source[at + len(quote) + 1 :][:1]
    cut = (quote[0].isdigit() and before in _BEFORE_NUMBER) or (quote[-1].isdigit() and after in _AFTER_NUMBER)
    return not cut


def _exact(quote: _Text, source: _Text, since: int) -> tuple[int, int] | None:
    """Where the quote stands, hyphens aside."""
    size = len(quote.letters)
    for at in _places(quote.letters, source.letters, since):
        if source.starts(at) and source.stops_at(at + size) and _same_gaps(quote, 1, source, at + 1, size - 1):
            return at, at + size
    return None


def _places(wanted: str, letters: str, since: int) -> Iterator[int]:
    at = letters.find(wanted, since)
    while at >= 0:
        yield at
        at = letters.find(wanted, at + 1)


def _same_gaps(quote: _Text, start: int, source: _Text, at: int, size: int) -> bool:
    """Spaces agree; a hyphen in either text stands for a space, for a hyphen and for nothing."""
    for offset in range(size):
        one, other = quote.gaps.get(start + offset), source.gaps.get(at + offset)
        if one != other and (one in {None, " "}) and (other in {None, " "}):
            return False
    return True


# Almost the same words


def _with_slips(quote: _Text, source: _Text, since: int) -> tuple[int, int] | None:
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


def _candidates(quote: _Text, source: _Text, since: int, most: int) -> Iterator[int]:
    """Starts of words where the quote may begin, judging by an exact stretch of it; each once."""
    words, seen = quote.words(), set[int]()
    for part in range(most + 1):
        first, last = part * len(words) // (most + 1), (part + 1) * len(words) // (most + 1) - 1
        offset, stretch = words[first][0], quote.letters[words[first][0] : words[last][1]]
        for _, place in zip(range(MOST_HITS), _places(stretch, source.letters, since), strict=False):
            for start in range(max(since, place - offset - most), place - offset + most + 1):
                if start not in seen and source.starts(start):
                    seen.add(start)
                    yield start


def _walk(quote: _Text, source: _Text, start: int, most: int) -> int | None:
    """Compares word by word from a place in the source; the end of the quote there, None when it does not stand."""
    words, index, at = quote.words(), 0, start
    while index < len(words):
        left, right = words[index]
        word, end = quote.letters[left:right], source.word_end(at)
        if source.letters.startswith(word, at) and _same_gaps(quote, left + 1, source, at + 1, right - left):
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


def _slip(quote: _Text, index: int, source: _Text, at: int, end: int) -> tuple[int, int] | None:
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
        and min(len(first), len(second)) >= 3
        and _NEGATIONS.isdisjoint((first, second, both))
        and first not in _PREFIXES
    )


def _is_variant(one: str, other: str) -> bool:
    """Whether two words differ by spelling alone. No dictionary tells `addiction` from a slip of `addition`, so only
    differences count that hardly ever lead to another word, and never one at a word's ends (`a-`, `un-`, `-s`)."""
    if not (one.isalpha() and other.isalpha()) or min(len(one), len(other)) < 5:
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
