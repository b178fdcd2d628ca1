"""Makes text from outside safe to show and to put into prompts: the unseen goes, what the eye sees stays.

Removed: zero-width and format characters, bidi controls, tag characters, control characters, HTML comments and
hidden HTML elements.
Rewritten: our citation forms (`[P3]` → `(P3)`, `[@id]` → `(@id)`), line ends (to `\\n`), odd spaces (to a
space), Cyrillic and Greek look-alikes inside Latin words. Flagged: all of it that looks meant to deceive, and
orders to whoever judges the text (`assayer.text.injections`).
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from assayer.models import TextFlag
from assayer.models.assessment import LABEL
from assayer.models.idea import FlagKind
from assayer.text.encoded_texts import encoded_texts
from assayer.text.hidden_markup import hidden_spans, without_tags
from assayer.text.injections import find_orders
from assayer.text.lookalikes import LOOKALIKES

__all__ = ["MOST_FLAGS", "clean_answer", "clean_text", "hidden_flags", "sanitise"]

MOST_FLAGS = 20
"""Flags kept of one kind; a text made of tricks needs no longer list."""
EXCERPT = 160
_KEPT_CHARS = 4_000
"""Longer texts are hardly read twice."""

_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SPACE = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U00013430-\U0001343f\U000e0000-\U000e0fff]+"
)
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_PAYLOAD = re.compile("[\U000e0020-\U000e007e\U000e0100-\U000e01ef]|[\u200b-\u200d\u2060-\u2064\ufeff\ufe00-\ufe0f]{4}")
"""Tag characters spell out hidden words; variation selectors and long zero-width runs encode them."""
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
    """What stood there unseen; empty when the place itself can be shown."""


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
        """Replaces every match."""
        self.replace((*match.span(), replacement(match), mark(match)) for match in pattern.finditer(self.text))

    def replace(self, changes: Iterable[tuple[int, int, str, tuple[FlagKind, str] | None]]) -> None:
        """Start, end, replacement, mark, in order; keeps earlier marks in place and adds new ones."""
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
        """Unicode NFC."""
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
    """Nothing for what editors and PDF tools leave behind: soft hyphens, joiners in emoji, stray marks."""
    run, text = match[0], match.string
    if _BIDI.search(run):
        return "bidi_text", ""
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if _PAYLOAD.search(run) and before != _FLAG_EMOJI:
        return "hidden_text", "".join(chr(ord(c) - 0xE0000) for c in run if 0xE0020 <= ord(c) <= 0xE007E)
    inside_word = before.isascii() and before.isalpha() and after.isascii() and after.isalpha()
    return ("hidden_text", "") if inside_word and _SPLITTER.search(run) else None


def _latin(match: re.Match[str]) -> str:
    """The word in Latin letters when every foreign letter in it only poses as one."""
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
    """Start and end of each HTML comment that is closed. A pattern would look for every end that is missing anew."""
    end = 0
    while (start := text.find("<!--", end)) >= 0 and (close := text.find("-->", start + 4)) >= 0:
        end = close + 3
        yield start, end


def _remove_hidden_markup(draft: _Draft) -> None:
    text = draft.text
    draft.replace(
        (start, end, "> " if _inside_tag(text, start) else " ", ("hidden_text", without_tags(text[start:end])))
        for start, end in hidden_spans(text)
    )


def _inside_tag(text: str, place: int) -> bool:
    """There, a tag that the removal would complete has to end instead, or it would hide the rest the next time."""
    return text.rfind("<", 0, place) > text.rfind(">", 0, place)


def _rewrite_labels(draft: _Draft) -> None:
    """Also a citation mark that never closes: nothing in the result may be taken for one of ours."""
    if "[" in draft.text:
        for pattern in (LABEL, _MARKER):
            draft.rewrite(pattern, lambda m: f"({m[0][1:-1]})", lambda m: ("label_lookalike", ""))
        draft.rewrite(_MARKER_START, lambda m: "(@", lambda m: ("label_lookalike", ""))


def _clean(text: str) -> _Draft:
    draft = _seen(text)
    _rewrite_labels(draft)
    return draft


def _seen(text: str) -> _Draft:
    draft = _Draft(_LINE_END.sub("\n", text))
    draft.rewrite(_INVISIBLE, lambda m: "", _invisible_kind)
    if not draft.text.isascii():
        draft.text = _SPACE.sub(" ", draft.text)
        draft.compose()
        _collapse_lookalikes(draft)
    _remove_comments(draft)
    _remove_hidden_markup(draft)
    return draft


def _excerpt(mark: _Mark, text: str) -> str:
    """What was hidden, or what can be seen around the place; on one line."""
    if mark.hidden:
        return " ".join(_clean(mark.hidden).text[:EXCERPT].split())
    left = max(0, mark.offset - EXCERPT // 4)
    return " ".join(text[left : left + EXCERPT].split())


def _orders(text: str, marks: list[_Mark]) -> Iterator[_Mark]:
    """Suspected orders in the visible text, in what is encoded there and in what was hidden; overlapping ones count
    once."""
    reached = -1
    for start, end in sorted(find_orders(text)):
        if start > reached:
            yield _Mark("suspected_injection", start, "")
        reached = max(reached, end)
    for start, words in encoded_texts(text):
        if any(find_orders(_clean(words).text)):
            yield _Mark("suspected_injection", start, words)
    for mark in marks:
        if mark.hidden and any(find_orders(_clean(mark.hidden).text)):
            yield mark._replace(kind="suspected_injection")


def _first_of_each_kind(marks: list[_Mark]) -> Iterator[_Mark]:
    seen: Counter[FlagKind] = Counter()
    for mark in marks:
        seen[mark.kind] += 1
        if seen[mark.kind] <= MOST_FLAGS:
            yield mark


def clean_text(text: str) -> str:
    """The clean text alone; several times faster where nobody looks at the flags."""
    return _clean(text).text


def clean_answer(text: str) -> str:
    """For what a model wrote: the same, but its labels stay, for it was asked to cite by them."""
    return _seen(text).text


def sanitise(text: str) -> tuple[str, tuple[TextFlag, ...]]:
    """The clean text, and what was suspicious about it in the order of its places. Idempotent on the text."""
    return _sanitised_once(text) if len(text) <= _KEPT_CHARS else _sanitised(text)


@lru_cache(maxsize=4_096)
def _sanitised_once(text: str) -> tuple[str, tuple[TextFlag, ...]]:
    """Titles and abstracts are read for several parts of one evaluation, and for other ideas of the same field."""
    return _sanitised(text)


def _sanitised(text: str) -> tuple[str, tuple[TextFlag, ...]]:
    draft = _clean(text)
    marks = sorted([*draft.marks, *_orders(draft.text, draft.marks)], key=lambda mark: mark.offset)
    return draft.text, tuple(
        TextFlag(kind=mark.kind, excerpt=_excerpt(mark, draft.text), offset=mark.offset)
        for mark in _first_of_each_kind(marks)
    )


def hidden_flags(hidden: Iterable[tuple[str, str]]) -> tuple[TextFlag, ...]:
    """For text that a reader of PDFs or pages left out because nobody can see it: pairs of place and text.

    The place stands at the start of the excerpt; the offset is 0, for the text is not in what was read.
    """
    flags: list[TextFlag] = []
    seen: Counter[FlagKind] = Counter()
    for place, text in hidden:
        clean = " ".join(_clean(text).text.split())
        found: tuple[tuple[FlagKind, bool], ...] = (
            ("hidden_text", bool(clean)),
            ("suspected_injection", any(find_orders(clean))),
        )
        for kind in (kind for kind, there in found if there):
            seen[kind] += 1
            if seen[kind] <= MOST_FLAGS:
                flags.append(TextFlag(kind=kind, excerpt=f"{place}: {clean}"[:EXCERPT], offset=0))
    return tuple(flags)
