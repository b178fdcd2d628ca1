"""Make external text safe to show and to put into prompts: remove what readers cannot see, keep what they can.

Removed: zero-width and format characters (except joiners that a script or an emoji needs), bidi controls, tag
characters, control characters, HTML comments and hidden HTML elements.
Rewritten: our citation forms (`[P3]` → `(P3)`, `[@id]` → `(@id)`), line ends (to `\\n`), unusual spaces (to a space),
Cyrillic and Greek look-alikes inside Latin words. Flagged: everything that may be meant to deceive, and instructions
to the judge of the text (`assayer.text.injections`).
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from assayer.models import FlagKind, TextFlag
from assayer.models.assessment import LABEL
from assayer.text.encoded_texts import encoded_texts
from assayer.text.hidden_markup import find_hidden_spans, remove_tags
from assayer.text.injections import find_instructions
from assayer.text.lookalikes import LOOKALIKES

MAX_FLAGS = 20
"""Maximum number of flags kept of each kind; more would be of no use to a reader."""
EXCERPT = 160
_KEPT_CHARS = 4_000
"""Maximum characters of a text whose result is cached; longer texts are rarely read twice."""

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACE = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
_JOINING = (
    "\u0600-\u07ff\u0840-\u0dff\u0f00-\u109f\u1780-\u18af\ua840-\ua8ff\ufb50-\ufdff\ufe70-\ufefe\U00011000-\U00011fff"
)
"""Character ranges of scripts that spell with U+200C and U+200D: Arabic, Syriac, Mongolian and Indian scripts."""
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_VIRAMA = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
_NEEDED = (
    f"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])|(?<=[{_VIRAMA}])\u200d"
    f"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
)
"""Pattern for a joiner that changes the shape of its neighbours."""
_INVISIBLE = re.compile(
    f"(?:(?!{_NEEDED})"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U00013430-\U0001343f\U000e0000-\U000e0fff])+"
)
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_PAYLOAD = re.compile("[\U000e0020-\U000e007e\U000e0100-\U000e01ef]|[\u200b-\u200d\u2060-\u2064\ufeff\ufe00-\ufe0f]{4}")
"""Pattern for invisible payloads: hidden words spelled in tag characters, or encoded in variation selectors and long
zero-width runs."""
_SPLITTER = re.compile("[\u200b-\u200d\u2060\ufeff]")
_FLAG_EMOJI = "\U0001f3f4"

_MARKER = re.compile(r"\[@([^\[\]]*)\]")
_MARKER_START = re.compile(r"\[@")

_LATIN_LETTERS = str.maketrans(LOOKALIKES)
_WORD = re.compile(r"[^\W\d_]{3,}")
_HAS_LOOKALIKE = re.compile(f"[{''.join(LOOKALIKES)}]")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")


class _Mark(NamedTuple):
    kind: FlagKind
    offset: int
    hidden: str
    """Hidden text at this position; empty if the text at this position can be displayed."""


@dataclass
class _Draft:
    text: str
    marks: list[_Mark] = field(default_factory=list)

    def move(self, place: Callable[[int], int]) -> None:
        self.marks = [mark._replace(offset=place(mark.offset)) for mark in self.marks]

    def rewrite(
        self,
        pattern: re.Pattern[str],
        replacement: Callable[[re.Match[str]], str],
        mark: Callable[[re.Match[str]], tuple[FlagKind, str] | None],
    ) -> None:
        """Replace every match."""
        self.replace((*match.span(), replacement(match), mark(match)) for match in pattern.finditer(self.text))

    def replace(self, changes: Iterable[tuple[int, int, str, tuple[FlagKind, str] | None]]) -> None:
        """Apply changes (start, end, replacement and mark), in order. Existing marks move with the text, and new marks
        are added."""
        pieces, ends, shifts, found = [], [0], [0], list[_Mark]()
        done = length = 0
        for start, end, replacement, kind in changes:
            pieces += [self.text[done:start], replacement]
            length += start - done
            if kind:
                found.append(_Mark(kind[0], length, kind[1]))
            length += len(replacement)
            done = end
            ends.append(done)
            shifts.append(length - done)
        if pieces:
            self.move(lambda offset: max(0, offset + shifts[bisect_right(ends, offset) - 1]))
            self.text = "".join(pieces) + self.text[done:]
            self.marks += found

    def compose(self) -> None:
        """Normalise the text to Unicode NFC."""
        if not unicodedata.is_normalized("NFC", self.text):
            old = self.text
            self.text = unicodedata.normalize("NFC", old)
            done = length = 0
            moved = {}
            for offset in sorted({mark.offset for mark in self.marks}):
                length += len(unicodedata.normalize("NFC", old[done:offset]))
                done, moved[offset] = offset, length
            self.move(moved.__getitem__)


def _invisible_kind(match: re.Match[str]) -> tuple[FlagKind, str] | None:
    """Return the kind of invisible text and the text; None for soft hyphens, joiners in emoji, and stray marks left
    behind by editors and PDF tools."""
    run, text = match[0], match.string
    if _BIDI.search(run):
        return "bidi_text", ""
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if _PAYLOAD.search(run) and before != _FLAG_EMOJI:
        return "hidden_text", "".join(chr(ord(c) - 0xE0000) for c in run if 0xE0020 <= ord(c) <= 0xE007E)
    inside_word = before.isascii() and before.isalpha() and after.isascii() and after.isalpha()
    return ("hidden_text", "") if inside_word and _SPLITTER.search(run) else None


def _latin(match: re.Match[str]) -> str:
    """Return the word in Latin letters if each of its other letters looks like a Latin one; otherwise return it
    unchanged."""
    word = match[0]
    plain = word.translate(_LATIN_LETTERS)
    latin = len(_LATIN.findall(word))
    if plain != word and latin >= 2 and len(_LATIN.findall(plain)) == len(word):
        return plain
    return word


def _collapse_lookalikes(draft: _Draft) -> None:
    if _HAS_LOOKALIKE.search(draft.text):
        draft.rewrite(_WORD, _latin, lambda m: ("homoglyphs", "") if _latin(m) != m[0] else None)
        draft.compose()


def _remove_comments(draft: _Draft) -> None:
    draft.replace(
        (start, end, " ", ("hidden_text", hidden) if (hidden := draft.text[start + 4 : end - 3]).strip() else None)
        for start, end in _comments(draft.text)
    )


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each closed HTML comment. This is not a regular expression, which would search to
    the end of the text for every unclosed comment."""
    end = 0
    while (start := text.find("<!--", end)) >= 0 and (close := text.find("-->", start + 4)) >= 0:
        end = close + 3
        yield start, end


def _remove_hidden_markup(draft: _Draft) -> None:
    text = draft.text
    draft.replace(
        (start, end, "> " if _is_inside_tag(text, start) else " ", ("hidden_text", remove_tags(text[start:end])))
        for start, end in find_hidden_spans(text)
    )


def _is_inside_tag(text: str, place: int) -> bool:
    """Return whether the position is inside an unclosed tag. If so, the replacement must close the tag; otherwise the
    removal could form a complete tag, and sanitising the text again would hide the rest."""
    return text.rfind("<", 0, place) > text.rfind(">", 0, place)


def _rewrite_labels(draft: _Draft) -> None:
    """Rewrite labels and citation marks, including unclosed ones, so that nothing in the result can be mistaken for our
    own marks."""
    if "[" in draft.text:
        for pattern in (LABEL, _MARKER):
            draft.rewrite(pattern, lambda m: f"({m[0][1:-1]})", lambda m: ("label_lookalike", ""))
        draft.rewrite(_MARKER_START, lambda m: "(@", lambda m: ("label_lookalike", ""))


def _clean(text: str) -> _Draft:
    draft = _remove_invisible(text)
    _rewrite_labels(draft)
    return draft


def _remove_invisible(text: str) -> _Draft:
    draft = _Draft(_LINE_END.sub("\n", text))
    if not (draft.text.isascii() and draft.text.isprintable()):
        draft.rewrite(_INVISIBLE, lambda m: "", _invisible_kind)
    if not draft.text.isascii():
        draft.text = _SPACE.sub(" ", draft.text)
        draft.compose()
        _collapse_lookalikes(draft)
    if "<" in draft.text:
        _remove_comments(draft)
        _remove_hidden_markup(draft)
    return draft


def _excerpt(mark: _Mark, text: str) -> str:
    """Return the hidden text, or the visible text around the position, on one line."""
    if mark.hidden:
        return " ".join(_clean(mark.hidden).text[:EXCERPT].split())
    left = max(0, mark.offset - EXCERPT // 4)
    return " ".join(text[left : left + EXCERPT].split())


def _instructions(text: str, marks: list[_Mark]) -> Iterator[_Mark]:
    """Yield suspected instructions in the visible text, in text encoded in it, and in hidden text.

    Overlapping instructions count only once."""
    reached = -1
    for start, end in sorted(find_instructions(text)):
        if start > reached:
            yield _Mark("suspected_injection", start, "")
        reached = max(reached, end)
    for start, words in encoded_texts(text):
        if any(find_instructions(_clean(words).text)):
            yield _Mark("suspected_injection", start, words)
    for mark in marks:
        if mark.hidden and any(find_instructions(_clean(mark.hidden).text)):
            yield mark._replace(kind="suspected_injection")


def _keep_first_of_each_kind(marks: list[_Mark]) -> Iterator[_Mark]:
    seen: Counter[FlagKind] = Counter()
    for mark in marks:
        seen[mark.kind] += 1
        if seen[mark.kind] <= MAX_FLAGS:
            yield mark


def clean_text(text: str) -> str:
    """Return only the clean text; several times faster than `sanitise`, for callers that do not need the flags."""
    return _clean(text).text


def clean_answer(text: str) -> str:
    """Return cleaned text written by a model. Unlike `clean_text`, it keeps labels, because the model was asked to cite
    with them."""
    return _remove_invisible(text).text


def sanitise(text: str) -> tuple[str, tuple[TextFlag, ...]]:
    """Return the clean text and its flags, in order of position. Cleaning a clean text does not change it."""
    return _sanitise_and_cache(text) if len(text) <= _KEPT_CHARS else _sanitised(text)


@lru_cache(maxsize=4_096)
def _sanitise_and_cache(text: str) -> tuple[str, tuple[TextFlag, ...]]:
    """Return the cached result for a short text. Titles and abstracts are read repeatedly, in several parts of an
    evaluation and for other ideas in the same field."""
    return _sanitised(text)


def _sanitised(text: str) -> tuple[str, tuple[TextFlag, ...]]:
    draft = _clean(text)
    marks = sorted([*draft.marks, *_instructions(draft.text, draft.marks)], key=lambda mark: mark.offset)
    return draft.text, tuple(
        TextFlag(kind=mark.kind, excerpt=_excerpt(mark, draft.text), offset=mark.offset)
        for mark in _keep_first_of_each_kind(marks)
    )


def build_hidden_flags(hidden: Iterable[tuple[str, str]]) -> tuple[TextFlag, ...]:
    """Return flags for text that a PDF or page reader omitted because it is invisible, from pairs of location and text.

    The excerpt begins with the location. The offset is 0, because hidden text is not part of the text that was read."""
    flags: list[TextFlag] = []
    seen: Counter[FlagKind] = Counter()
    for place, text in hidden:
        clean = " ".join(_clean(text).text.split())
        found: tuple[tuple[FlagKind, bool], ...] = (
            ("hidden_text", bool(clean)),
            ("suspected_injection", any(find_instructions(clean))),
        )
        for kind in (kind for kind, present in found if present):
            seen[kind] += 1
            if seen[kind] <= MAX_FLAGS:
                flags.append(TextFlag(kind=kind, excerpt=f"{place}: {clean}"[:EXCERPT], offset=0))
    return tuple(flags)
