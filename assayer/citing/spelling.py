"""Texts spelled in one way, so that two of them can be compared, and the way back to where each letter stood.

Case, typographic forms and line breaks are made one. What survives of punctuation is what carries meaning: decimal
points, signs of comparison, per cent, a minus before a number. Between letters of scripts that write no spaces a quote
may begin and end, and a space says nothing. The steps are listed once and taken in two ways: quickly
by `unified` and `spelled`, and by `origins`, which remembers for every letter the place in the text it came from.
"""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from assayer.text.scripts import MARKS, UNSPACED

__all__ = ["NEGATIONS", "PREFIXES", "Letters", "origins", "places", "spelled", "unified"]

HYPHEN, BROKEN, TIED, ELIDED = "\ue000", "\ue001", "\ue002", "\ue003"
"""A hyphen in a word; a hyphen and then space, as at a line's end; a dash right before a digit (`GPT-4`, `2-15`),
which is no gap at all; an apostrophe in a word."""
_SIGNS = "<>=≤≥≠≈≪≫±%‰+−"
_BEFORE_NUMBER = frozenset("<>≤≥≠≈≪≫±+−")
_AFTER_NUMBER = frozenset("%‰")

NEGATIONS = frozenset(
    (
        "no", "not", "non", "nor", "none", "never", "neither", "nobody", "nothing", "nowhere", "without", "cannot",
        "cant", "dont", "doesnt", "didnt", "isnt", "arent", "wasnt", "werent", "wont", "wouldnt", "shouldnt",
        "couldnt", "hasnt", "havent", "hadnt", "mustnt", "hardly", "barely", "scarcely", "rarely", "seldom",
    )
)  # fmt: skip
"""As they are spelled here."""
PREFIXES = frozenset(("a", "an", "anti", "de", "dis", "il", "im", "in", "ir", "mis", "non", "un"))
"""What, hyphenated, turns the word after it into its opposite."""
_ARTICLES = frozenset(
    (
        "l", "d", "j", "m", "t", "s", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "quelqu", "un", "dell", "all",
        "nell", "sull", "dall", "coll", "quell", "quest", "bell", "sant", "anch", "com", "gl",
    )
)  # fmt: skip
"""What French, Italian and Catalan write with an apostrophe before a word that begins with a vowel. Not `n'`: it
negates."""
_FIGURES = "0-9\u0e50-\u0e59〇零一二三四五六七八九十百千万萬億亿兆两兩"
_IN_FIGURE = re.compile(
    rf"[{_FIGURES}点點之负負]\n[{_FIGURES}]|[{_FIGURES}]\n(?:[点點倍成割多余餘半]|分之)|分\n之[{_FIGURES}]"
    r"|(?:[至到]|から|マイナス|ลบ|ถึง)\n[0-9]"
)
"""Where a cut, here a line end, would leave another figure: 5|万, 二|十, 百分之|五, 负|5, 5 至|10."""
_BESIDE_UNSPACED = re.compile(f"[{UNSPACED}]")
_BETWEEN_UNSPACED = re.compile(
    rf"(?![เ-ไເ-ໄ])(?!.[{MARKS}ะาๅๆฯະາຯぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮー々ゝヽ])(?:[{UNSPACED}].|.[{UNSPACED}])"
)
"""Two letters, one of them at least of a script without spaces, that are not parts of one syllable."""

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_INVISIBLE = re.compile(
    "[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ue000-\ue003\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_RAISED = re.compile("(?<=[0-9])([²³¹⁰⁴-⁹⁺⁻₀-₉¼-¾⅐-⅞])")
"""Compatibility forms would melt into the number before them: 10³ is not 103."""
_MARKS_ON_LETTERS = "".join(
    chr(code) for code in (*range(0x300, 0x3100), 0xFF9E, 0xFF9F) if unicodedata.combining(chr(code)) or code > 0xFF00
)
_FORMS = re.compile(
    rf"[ᄀ-ᇿꥠ-꥿ힰ-퟿]+|.[{_MARKS_ON_LETTERS}]+|(?:[A-Z]+|[^\x00-\x7f]+)(?![{_MARKS_ON_LETTERS}])", re.DOTALL
)
"""What has other forms of the same: a letter with its marks, the parts of a Korean syllable, capitals, whatever is
not ASCII."""
_TYPOGRAPHY = {
    character: plain
    for characters, plain in (
        ("‘’‚‛ʹʻʼʽˈˊˋ`′ꞌ", "'"),
        ("‐‑‒–", "-"),
        ("—―", " "),
        ("≦⩽", "≤"),
        ("≧⩾", "≥"),
        ("∼≃≅", "≈"),
    )
    for character in characters
}
_TYPOGRAPHIC = re.compile(f"[{''.join(_TYPOGRAPHY)}]")
_ACUTE = re.compile("´")
"""Has to be an apostrophe before other forms are sought: else it is a space and an accent."""
_MIDDLE_DOT = re.compile(r"(?<=[0-9])·(?=[0-9])")
_COMPOUND = re.compile(r"<=|>=|!=|\+/?-|\\(?:leq?|geq?|pm)(?![a-z])")
_COMPOUND_SIGNS = {"<": "≤", ">": "≥", "!": "≠", "+": "±", "\\l": "≤", "\\g": "≥", "\\p": "±"}
_RANGE = re.compile(r"[~〜](?<=[0-9].)(?=[0-9])")
_DASHES = re.compile(
    r"[-−](?:(?P<tied>(?<=[^\W_].)(?=[0-9])|(?<=[0-9].)(?:-(?=[0-9])|[^\S\n]*\n\s*(?=[0-9])))"
    r"|(?P<minus>(?<![^\W_].)(?=\.?[0-9])|(?<=−)(?=\s?\.?[0-9]))"
    r"|(?P<hyphen>(?<=[^\W_].)(?=[^\W\d_]))"
    r"|(?P<broken>(?<=[^\W_].)\s+(?=[^\W\d_])))"
)
"""Begins with what it looks for, like the patterns below: several times faster."""
_DASH_AS = {"tied": TIED, "minus": "−", "hyphen": HYPHEN, "broken": BROKEN}
_APOSTROPHE = re.compile(r"'(?<=[^\W\d_].)(?=[^\W\d_])")
_EMPHASIS = re.compile(r"\*\*(?<=[^\W\d_]..)(?=[^\W\d_])")
"""That of `**V**iGLUE`."""
_BARE_POINT = re.compile(r"\.(?<![\w.].)(?=[0-9])")
_PUNCTUATION = re.compile(rf"(?:[^\w\s{_SIGNS}{HYPHEN}{BROKEN}{TIED}{ELIDED}.,{MARKS}]|_)+")
_POINTS = re.compile(r"[.,](?:(?![0-9])|(?<![0-9].))|\+(?!\.?[0-9])")
"""Those of sentences and lists; the ones in numbers stay."""
_SIGN = re.compile(f"[{_SIGNS}]")
_GAPS = f" {HYPHEN}{BROKEN}{ELIDED}"
_GAP = re.compile(f"[{_GAPS}]")


def _one_form(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


_Rewrite = Callable[[re.Match[str]], str]
_Step = tuple[re.Pattern[str], _Rewrite]


def _by(replacement: str) -> _Rewrite:
    return lambda match: replacement


_UNIFYING: tuple[_Step, ...] = (
    (_ENTITY, lambda match: html.unescape(match[0])),
    (_INVISIBLE, _by("")),
    (_RAISED, lambda match: f" {match[0]}"),
    (_ACUTE, _by("'")),
    (_FORMS, lambda match: _one_form(match[0])),
    (_INVISIBLE, _by("")),
    (_TYPOGRAPHIC, lambda match: _TYPOGRAPHY[match[0]]),
    (_MIDDLE_DOT, _by(".")),
)
"""Unicode's many forms of one character made one; lower case. Line ends stay."""
_SPELLING: tuple[_Step, ...] = (
    (_COMPOUND, lambda match: _COMPOUND_SIGNS[match[0][: 1 + (match[0][0] == "\\")]]),
    (_RANGE, _by("-")),
    (_DASHES, lambda match: _DASH_AS[match.lastgroup or ""]),
    (_APOSTROPHE, _by(ELIDED)),
    (_EMPHASIS, _by("")),
    (_BARE_POINT, _by("0.")),
    (_PUNCTUATION, _by(" ")),
    (_POINTS, _by(" ")),
    (_SIGN, lambda match: f" {match[0]} "),
)
"""Words, numbers and signs with one gap between any two of them: a space, or a mark for a hyphen or an apostrophe."""


def _is_plain(text: str) -> bool:
    """Whether unifying gives a letter for each letter."""
    return text.isascii() and "&" not in text


def unified(text: str) -> str:
    """The first half of the way; ellipses and line ends can still be told."""
    if _is_plain(text):
        return text.lower().replace("`", "'")
    for pattern, rewrite in _UNIFYING:
        text = pattern.sub(rewrite, text)
    return text


def spelled(text: str) -> str:
    """The second half, of a unified text."""
    for pattern, rewrite in _SPELLING:
        text = pattern.sub(rewrite, text)
    return " ".join(text.split())


def origins(text: str) -> list[tuple[int, int]]:
    """For each letter of `Letters.of(spelled(unified(text)))` the start and end of what it came from in the text."""
    places = _letter_places(len(text))
    if _is_plain(text):
        text = unified(text)
    else:
        for pattern, rewrite in _UNIFYING:
            text, places = _rewritten(text, places, pattern, rewrite)
    for pattern, rewrite in _SPELLING:
        text, places = _rewritten(text, places, pattern, rewrite)
    return [place for letter, place in zip(text, places, strict=True) if letter not in _GAPS and not letter.isspace()]


_SHARED_PLACES = 16_384


@cache
def _shared_places() -> list[tuple[int, int]]:
    return [(at, at + 1) for at in range(_SHARED_PLACES)]


def _letter_places(size: int) -> list[tuple[int, int]]:
    return _shared_places()[:size] if size <= _SHARED_PLACES else [(at, at + 1) for at in range(size)]


def _rewritten(
    text: str, places: list[tuple[int, int]], pattern: re.Pattern[str], rewrite: _Rewrite
) -> tuple[str, list[tuple[int, int]]]:
    out: list[str] = []
    moved: list[tuple[int, int]] = []
    reached = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        new = rewrite(match)
        out += (text[reached:start], new)
        moved += places[reached:start]
        moved += _places_of(new, match[0], places[start:end])
        reached = end
    if not reached:
        return text, places
    out.append(text[reached:])
    moved += places[reached:]
    return "".join(out), moved


def _places_of(new: str, old: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Letter by letter where each has its own counterpart, else all of them the whole place."""
    if len(new) == len(old):
        return list(places)
    apart = [_one_form(letter) for letter in old]
    if len(old) > 1 and "".join(apart) == new:
        return [place for letters, place in zip(apart, places, strict=True) for _ in letters]
    return [(places[0][0], places[-1][1])] * len(new)


class Letters(NamedTuple):
    """A spelled text without its gaps, and where they were."""

    letters: str
    gaps: dict[int, str]
    """Kind of the gap before the letter at a position; the text's two ends are spaces."""
    stops: list[int]
    """Positions of the spaces, in order."""

    @classmethod
    def of(cls, text: str) -> "Letters":
        gaps = {0: " "}
        for number, match in enumerate(_GAP.finditer(text)):
            gaps[match.start() - number] = match[0]
        letters = _GAP.sub("", text)
        gaps[len(letters)] = " "
        return cls(letters, gaps, [place for place, kind in gaps.items() if kind == " "])

    def words(self) -> list[tuple[int, int]]:
        return list(pairwise(self.stops))

    def word_end(self, place: int) -> int:
        """The next space after a place; the place itself at the end of the text."""
        index = bisect_right(self.stops, place)
        return self.stops[index] if index < len(self.stops) else place

    def starts(self, place: int) -> bool:
        """Whether a quote can begin here: at a space, with no sign or hyphenated negation cut off; after an article
        and its apostrophe; or between letters that are written without spaces."""
        kind = self.gaps.get(place)
        if kind == " ":
            before, after = self.letters[place - 1 : place] if place else "", self.letters[place : place + 1]
            cut = after.isdigit() and before in _BEFORE_NUMBER and before
            return not (cut or self._cuts_figure(place))
        if kind in {BROKEN, ELIDED}:
            word = self.letters[self._gap_before(place) : place]
            return word in _ARTICLES if kind == ELIDED else word not in PREFIXES
        return self._is_between_unspaced(place)

    def stops_at(self, place: int) -> bool:
        """Whether a quote can end here: at a space, with no per cent sign cut off, or between letters that are written
        without spaces."""
        before, after = self.letters[place - 1 : place], self.letters[place : place + 1]
        if after in _AFTER_NUMBER and before.isdigit() and after:
            return False
        if self.gaps.get(place) in {" ", BROKEN}:
            return not self._cuts_figure(place)
        return self._is_between_unspaced(place) and not before.isdigit()

    def same_gaps(self, start: int, other: "Letters", at: int, size: int) -> bool:
        """Spaces agree; a hyphen or an apostrophe in either text stands for a space, for itself and for nothing. Beside
        a letter of a script without spaces a space says nothing."""
        for offset in range(size):
            place = start + offset
            one, two = self.gaps.get(place), other.gaps.get(at + offset)
            differ = one != two and one in {None, " "} and two in {None, " "}
            if differ and not _BESIDE_UNSPACED.search(self.letters[place - 1 : place + 1]):
                return False
        return True

    def _is_between_unspaced(self, place: int) -> bool:
        """Also where one of the two letters is of another script."""
        pair = self.letters[place - 1 : place + 1] if place else ""
        return bool(_BETWEEN_UNSPACED.match(pair)) and not self._cuts_figure(place)

    def _cuts_figure(self, place: int) -> bool:
        if not place or not _BESIDE_UNSPACED.search(self.letters[place - 1 : place + 1]):
            return False
        return bool(_IN_FIGURE.search(f"{self.letters[max(0, place - 4) : place]}\n{self.letters[place : place + 2]}"))

    def _gap_before(self, place: int) -> int:
        return next(at for at in range(place - 1, -1, -1) if at in self.gaps)


def places(wanted: str, letters: str, since: int) -> Iterator[int]:
    """Where the same letters stand, gaps aside."""
    at = letters.find(wanted, since)
    while at >= 0:
        yield at
        at = letters.find(wanted, at + 1)
