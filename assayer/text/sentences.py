"""Sentence segmentation of texts, for passages and quotes.

sentencex proposes the boundaries. It takes many abbreviations and the marks of enumerations for the end of a sentence;
such boundaries are removed or moved here."""

import re
from collections.abc import Iterator
from itertools import pairwise

import sentencex

_MAX_CHARS_AT_ONCE = 10_000
"""Maximum number of characters segmented at once, because the segmenter takes quadratic time on text with many unclosed
quotes."""
_CUTS = ("\n\n", "\n", ". ", " ")
"""Separators at which longer texts are cut before segmentation, in order of preference."""
_MARKUP = re.compile(r"\*\*|__|^[^\S\n]*+(?:[-*•]|\d++[.)])\s++|^#++\s++", re.MULTILINE)
_WIDE_SPACES = {code: " " for code in range(0x80, 0x3001) if chr(code).isspace()}
"""Spaces of several bytes, at which the segmenter panics."""

_MISSED = re.compile(r"(?:[.!?][)\]]|\d [A-Za-z]\.)\s+(?=[A-Z][a-z])")
"""End of a sentence in brackets, or in a unit, which the segmenter takes for an initial: `3 m. The`."""
_REACH = 60
"""Maximum number of characters before a boundary that decide about it."""
_ABBREVIATIONS_TEXT = """
    fig figs eq eqs eqn eqns sec secs sect sects tab tabs ref refs vol vols no nos nr chap ch app suppl supp def defs
    thm lem prop cor ex exs approx ca cf viz vs resp incl excl max min temp avg al ser art par para pp p pg eds ed pt
    pts bzw abb kap vgl ggf inkl evtl usw sog abs apdo núm pág cap fasc env dr prof mr mrs ms st mt univ dept inst gen
    lib
"""
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_TEXT.split())
_PART_OF_PAPER = re.compile(r"(?:Table|Figure|Section|Equation|Chapter|Appendix|Note|Material|Information|Data)s?\b")
_LAST_WORD = re.compile(r"(?P<word>[^\W\d_]{1,8})\.\s*$")
_CONTINUES = re.compile(r"[\d(\[±−–~<>=+-]|[a-zß-öø-ÿ]+\b(?![A-Z])|(?:[A-Z]\d{0,2}|[IVX]{1,4})(?!\w)")
"""Beginning of what may follow an abbreviation in the same sentence."""
_MARK = r"(?:\d{1,3}|[ivxl]{1,5}|[IVXL]{1,5}|[A-Za-z])[.)]"
_ONLY_MARK = re.compile(rf"\W{{0,3}}{_MARK}\s*")
_MARK_IN_SENTENCE = re.compile(rf"[:;,]\s+{_MARK}\s*$")
_MARK_AFTER_SENTENCE = re.compile(r"[.!?]\s+(?=\d{1,2}\.\s*$)")
_ORDINAL = re.compile(r"\b(?:am|de[mnrs]|die|das|zum|zur|vom|beim|im|ab|bis|seit) \d{1,2}\.\s*$", re.IGNORECASE)
"""German ordinal number: `am 3. Mai`."""
_ENDED = re.compile(r"[.!?…。．！？؟।።។။](?:[)\]”\"'’»*_}]|\[[\^\d][^\[\]]{0,40}\]){0,4}\s*$")
_CITED = re.compile(r"\.[)\]]?\s?\[\d[^\[\]]{0,40}\]\s*$")
_CITATION = re.compile(r"(?:\[\^?\d{1,3}(?:\s?[-–,;]\s?\d{1,3}){0,20}\])+(?:\s+|$)")


def sentences(text: str, min_words: int = 6) -> list[str]:
    """Return the sentences of at least `min_words` words, in order, without Markdown marks, each on one line."""
    plain = (" ".join(_MARKUP.sub("", text[start:end]).split()) for start, end in sentence_spans(text))
    return [item for item in plain if len(item.split()) >= min_words]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence, in order; together they cover the whole text."""
    return list(pairwise([*_starts(text), len(text)]))


def _starts(text: str) -> Iterator[int]:
    """Yield where each sentence starts, in order."""
    start = 0
    yield start
    for boundary in _proposed_boundaries(text):
        moved = _move_boundary(text, start, boundary)
        if start < moved < len(text):
            start = moved
            yield start


def _proposed_boundaries(text: str) -> Iterator[int]:
    """Yield possible boundaries after the first character."""
    position = 0
    for piece in _pieces(text):
        for segment in sentencex.segment("en", piece if piece.isascii() else piece.translate(_WIDE_SPACES)):
            if position and segment.strip():
                yield position + len(segment) - len(segment.lstrip())
            yield from (position + match.end() for match in _MISSED.finditer(segment))
            position += len(segment)


def _move_boundary(text: str, start: int, boundary: int) -> int:
    """Return where the sentence that begins at `start` ends near a proposed boundary; `start` if it does not end."""
    begin = max(start, boundary - _REACH)
    before, after = text[begin:boundary], text[boundary : boundary + _REACH]
    gap = before[len(before.rstrip()) :]
    if "\n\n" in gap:
        return boundary
    citation = _CITATION.match(after)
    if citation and not gap:
        return boundary + citation.end()
    moved = _MARK_AFTER_SENTENCE.search(before)
    if moved and not _ends_in_abbreviation(before[: moved.end()]):
        return begin + moved.end()
    continues = (
        (begin == start and _ONLY_MARK.fullmatch(before))
        or _MARK_IN_SENTENCE.search(before)
        or _ORDINAL.search(before)
        or ("\n" not in gap and not _ENDED.search(before))
        or (not gap and after[:1] in "-–")
        or (_ends_in_abbreviation(before) and (_CONTINUES.match(after) or _begins_with_abbreviation(after)))
        or (_CITED.search(before) and after[:1].islower())
        or not any(map(str.isalnum, after))
    )
    return start if continues else boundary


def _ends_in_abbreviation(text: str) -> bool:
    word = _LAST_WORD.search(text)
    return word is not None and word["word"].casefold() in _ABBREVIATIONS


def _begins_with_abbreviation(text: str) -> bool:
    return text[:9].partition(".")[0].casefold() in _ABBREVIATIONS or _PART_OF_PAPER.match(text) is not None


def _pieces(text: str) -> Iterator[str]:
    """Yield consecutive pieces that together make up the whole text."""
    start = 0
    while len(text) - start > _MAX_CHARS_AT_ONCE:
        end = _cut(text, start)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, start: int) -> int:
    end = start + _MAX_CHARS_AT_ONCE
    for mark in _CUTS:
        if (at := text.rfind(mark, start, end)) > start:
            return at + len(mark)
    return end
