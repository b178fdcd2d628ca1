"""Normalise texts so that a quote can be compared with its source, and map each letter back to where it came from.

Case, typographic forms and line breaks are unified. Only punctuation that carries meaning is kept: decimal points,
comparison signs, per cent signs, a minus before a number. In scripts without spaces, spaces are ignored, and a quote
can begin and end between any two letters. The steps are listed once and applied in two ways: fast, by `unify_forms` and
`normalise_words`; and by `find_origins`, which records where every letter comes from."""

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from assayer.text.scripts import MARKS, UNSPACED

HYPHEN, BROKEN, TIED, ELIDED = "\ue000", "\ue001", "\ue002", "\ue003"
"""Marks for hyphens, dashes and apostrophes:
- HYPHEN: a hyphen in a word.
- BROKEN: a hyphen followed by a space, as at the end of a line.
- TIED: a dash directly before a digit, as in `GPT-4` and `2-15`; it is not a gap.
- ELIDED: an apostrophe in a word."""
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
"""Negating words, in this module's normalised spelling."""
PREFIXES = frozenset(("a", "an", "anti", "de", "dis", "il", "im", "in", "ir", "mis", "non", "un"))
"""Prefixes that negate the word after them when hyphenated."""
_ARTICLES = frozenset(
    (
        "l", "d", "j", "m", "t", "s", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "quelqu", "un", "dell", "all",
        "nell", "sull", "dall", "coll", "quell", "quest", "bell", "sant", "anch", "com", "gl",
    )
)  # fmt: skip
"""Elided words that French, Italian and Catalan write with an apostrophe before a vowel. `n'` is excluded because it
negates."""
_NUMBER_CHARACTERS = "0-9\u0e50-\u0e59〇零一二三四五六七八九十百千万萬億亿兆两兩"
_INSIDE_NUMBER = re.compile(
    rf"[{_NUMBER_CHARACTERS}点點之负負]\n[{_NUMBER_CHARACTERS}]|[{_NUMBER_CHARACTERS}]\n(?:[点點倍成割多余餘半]|分之)|分\n之[{_NUMBER_CHARACTERS}]"
    r"|(?:[至到]|から|マイナス|ลบ|ถึง)\n[0-9]"
)
"""Matches line ends at which a cut would change a number: 5|万, 二|十, 百分之|五, 负|5, 5 至|10."""
_BESIDE_UNSPACED = re.compile(f"[{UNSPACED}]")
_BETWEEN_UNSPACED = re.compile(
    rf"(?![เ-ไເ-ໄ])(?!.[{MARKS}ะาๅๆฯະາຯぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮー々ゝヽ])(?:[{UNSPACED}].|.[{UNSPACED}])"
)
"""Matches two letters that do not belong to one syllable, at least one of them from a script without spaces."""

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?")
_INVISIBLE = re.compile(
    "[\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ue000-\ue003\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_RAISED = re.compile("(?<=[0-9])([²³¹⁰⁴-⁹⁺⁻₀-₉¼-¾⅐-⅞])")
"""Matches raised or lowered digits after a digit. Normalised to plain digits, they would merge with the number: 10³ is
not 103."""
_MARKS_ON_LETTERS = "".join(
    chr(code) for code in (*range(0x300, 0x3100), 0xFF9E, 0xFF9F) if unicodedata.combining(chr(code)) or code > 0xFF00
)
_FORMS = re.compile(
    rf"[ᄀ-ᇿꥠ-꥿ힰ-퟿]+|.[{_MARKS_ON_LETTERS}]+|(?:[A-Z]+|[^\x00-\x7f]+)(?![{_MARKS_ON_LETTERS}])", re.DOTALL
)
"""Matches characters with several equivalent forms: a letter with its marks, the parts of a Korean syllable, capitals,
and everything that is not ASCII."""
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
"""An acute accent used as an apostrophe. It must be replaced before other forms are normalised, which would turn it
into a space and a combining accent."""
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
"""Matches dashes and hyphens. Like the patterns below, it begins with the character that it matches, because such
patterns are several times faster."""
_DASH_AS = {"tied": TIED, "minus": "−", "hyphen": HYPHEN, "broken": BROKEN}
_APOSTROPHE = re.compile(r"'(?<=[^\W\d_].)(?=[^\W\d_])")
_EMPHASIS = re.compile(r"\*\*(?<=[^\W\d_]..)(?=[^\W\d_])")
"""Matches emphasis marks inside a word, as in `**V**iGLUE`."""
_BARE_POINT = re.compile(r"\.(?<![\w.].)(?=[0-9])")
_PUNCTUATION = re.compile(rf"(?:[^\w\s{_SIGNS}{HYPHEN}{BROKEN}{TIED}{ELIDED}.,{MARKS}]|_)+")
_POINTS = re.compile(r"[.,](?:(?![0-9])|(?<![0-9].))|\+(?!\.?[0-9])")
"""Matches punctuation in sentences and lists; points and commas within numbers are kept."""
_SIGN = re.compile(f"[{_SIGNS}]")
_GAPS = f" {HYPHEN}{BROKEN}{ELIDED}"
_GAP = re.compile(f"[{_GAPS}]")


def _fold_form(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


_Rewrite = Callable[[re.Match[str]], str]
_Step = tuple[re.Pattern[str], _Rewrite]


def _replace_with(replacement: str) -> _Rewrite:
    return lambda match: replacement


_UNIFYING: tuple[_Step, ...] = (
    (_ENTITY, lambda match: html.unescape(match[0])),
    (_INVISIBLE, _replace_with("")),
    (_RAISED, lambda match: f" {match[0]}"),
    (_ACUTE, _replace_with("'")),
    (_FORMS, lambda match: _fold_form(match[0])),
    (_INVISIBLE, _replace_with("")),
    (_TYPOGRAPHIC, lambda match: _TYPOGRAPHY[match[0]]),
    (_MIDDLE_DOT, _replace_with(".")),
)
"""Steps that unify a character's Unicode forms and convert to lower case. Line ends are kept."""
_SPELLING: tuple[_Step, ...] = (
    (_COMPOUND, lambda match: _COMPOUND_SIGNS[match[0][: 1 + (match[0][0] == "\\")]]),
    (_RANGE, _replace_with("-")),
    (_DASHES, lambda match: _DASH_AS[match.lastgroup or ""]),
    (_APOSTROPHE, _replace_with(ELIDED)),
    (_EMPHASIS, _replace_with("")),
    (_BARE_POINT, _replace_with("0.")),
    (_PUNCTUATION, _replace_with(" ")),
    (_POINTS, _replace_with(" ")),
    (_SIGN, lambda match: f" {match[0]} "),
)
"""Steps that leave a single gap between words, numbers and signs: a space, or a mark for a hyphen or apostrophe."""


def _is_plain(text: str) -> bool:
    """Return whether `unify_forms` maps each letter of the text to exactly one letter."""
    return text.isascii() and "&" not in text


def unify_forms(text: str) -> str:
    """Apply the first stage of normalisation. Ellipses and line ends remain recognisable."""
    if _is_plain(text):
        return text.lower().replace("`", "'")
    for pattern, rewrite in _UNIFYING:
        text = pattern.sub(rewrite, text)
    return text


def normalise_words(text: str) -> str:
    """Apply the second stage of normalisation to a unified text."""
    for pattern, rewrite in _SPELLING:
        text = pattern.sub(rewrite, text)
    return " ".join(text.split())


def find_origins(text: str) -> list[tuple[int, int]]:
    """Return, for each letter in `Letters.from_text(normalise_words(unify_forms(text)))`, the start and end of the text
    that it comes from."""
    size = len(text)
    places = _list_shared_places()[:size] if size <= _SHARED_PLACES else [(at, at + 1) for at in range(size)]
    if _is_plain(text):
        text = unify_forms(text)
    else:
        for pattern, rewrite in _UNIFYING:
            text, places = _rewrite_matches(text, places, pattern, rewrite)
    for pattern, rewrite in _SPELLING:
        text, places = _rewrite_matches(text, places, pattern, rewrite)
    return [place for letter, place in zip(text, places, strict=True) if letter not in _GAPS and not letter.isspace()]


_SHARED_PLACES = 16_384


@cache
def _list_shared_places() -> list[tuple[int, int]]:
    return [(at, at + 1) for at in range(_SHARED_PLACES)]


def _rewrite_matches(
    text: str, places: list[tuple[int, int]], pattern: re.Pattern[str], rewrite: _Rewrite
) -> tuple[str, list[tuple[int, int]]]:
    pieces: list[str] = []
    new_places: list[tuple[int, int]] = []
    position = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        replacement = rewrite(match)
        pieces += (text[position:start], replacement)
        new_places += places[position:start]
        new_places += _map_places(replacement, match[0], places[start:end])
        position = end
    if not position:
        return text, places
    pieces.append(text[position:])
    new_places += places[position:]
    return "".join(pieces), new_places


def _map_places(new_text: str, old_text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places of the rewritten letters. Letters are matched one by one if possible; otherwise, each gets the
    place of the whole old text."""
    if len(new_text) == len(old_text):
        return list(places)
    normalised_letters = [_fold_form(letter) for letter in old_text]
    if len(old_text) > 1 and "".join(normalised_letters) == new_text:
        return [place for letters, place in zip(normalised_letters, places, strict=True) for _ in letters]
    return [(places[0][0], places[-1][1])] * len(new_text)


class Letters(NamedTuple):
    """A normalised text without its gaps, and the positions of the gaps."""

    letters: str
    gaps: dict[int, str]
    """The gap before the letter at each position; both ends of the text count as spaces."""
    stops: list[int]
    """Positions of the spaces, in order."""

    @classmethod
    def from_text(cls, text: str) -> "Letters":
        gaps = {0: " "}
        for number, match in enumerate(_GAP.finditer(text)):
            gaps[match.start() - number] = match[0]
        letters = _GAP.sub("", text)
        gaps[len(letters)] = " "
        return cls(letters, gaps, [place for place, kind in gaps.items() if kind == " "])

    def list_words(self) -> list[tuple[int, int]]:
        return list(pairwise(self.stops))

    def find_word_end(self, place: int) -> int:
        """Return the position of the next space after a place; at the end of the text, the place itself."""
        index = bisect_right(self.stops, place)
        return self.stops[index] if index < len(self.stops) else place

    def can_start_at(self, place: int) -> bool:
        """Return whether a quote can begin at this place. A quote can begin:

        - after a space, unless this cuts off the sign of a number, or splits the number;
        - after a hyphen at the end of a line, unless a negating prefix stands before it;
        - after an elided article and its apostrophe;
        - between two letters of a script without spaces."""
        kind = self.gaps.get(place)
        if kind == " ":
            before, after = self.letters[place - 1 : place] if place else "", self.letters[place : place + 1]
            preceding_sign = after.isdigit() and before in _BEFORE_NUMBER and before
            return not (preceding_sign or self._splits_number(place))
        if kind in {BROKEN, ELIDED}:
            word = self.letters[next(at for at in range(place - 1, -1, -1) if at in self.gaps) : place]
            return word in _ARTICLES if kind == ELIDED else word not in PREFIXES
        return self._is_between_unspaced(place)

    def can_stop_at(self, place: int) -> bool:
        """Return whether a quote can end at this place. A quote can end before a space or a hyphen at
        the end of a line, and between two letters of a script without spaces, unless this splits a number or cuts off
        its percent sign."""
        before, after = self.letters[place - 1 : place], self.letters[place : place + 1]
        if after in _AFTER_NUMBER and before.isdigit() and after:
            return False
        if self.gaps.get(place) in {" ", BROKEN}:
            return not self._splits_number(place)
        return self._is_between_unspaced(place) and not before.isdigit()

    def has_same_gaps(self, start: int, other: "Letters", at: int, size: int) -> bool:
        """Return whether the gaps in two stretches agree. A hyphen or apostrophe in either text matches a space, itself
        or no gap. Next to a letter from a script without spaces, spaces are ignored."""
        for offset in range(size):
            place = start + offset
            gap, other_gap = self.gaps.get(place), other.gaps.get(at + offset)
            differ = gap != other_gap and gap in {None, " "} and other_gap in {None, " "}
            if differ and not _BESIDE_UNSPACED.search(self.letters[place - 1 : place + 1]):
                return False
        return True

    def _is_between_unspaced(self, place: int) -> bool:
        """Return whether a place lies between two letters, at least one of them from a script without spaces, and does
        not split a number."""
        pair = self.letters[place - 1 : place + 1] if place else ""
        return bool(_BETWEEN_UNSPACED.match(pair)) and not self._splits_number(place)

    def _splits_number(self, place: int) -> bool:
        if not place or not _BESIDE_UNSPACED.search(self.letters[place - 1 : place + 1]):
            return False
        return bool(
            _INSIDE_NUMBER.search(f"{self.letters[max(0, place - 4) : place]}\n{self.letters[place : place + 2]}")
        )


def find_letters(searched_letters: str, letters: str, search_start: int) -> Iterator[int]:
    """Yield the places where the letters of `searched_letters` occur, ignoring gaps."""
    position = letters.find(searched_letters, search_start)
    while position >= 0:
        yield position
        position = letters.find(searched_letters, position + 1)
