"""Stretches of text to be masked: which of two that overlap wins, and the text without them."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assayer.models.blinding import MaskedKind

__all__ = ["PLACEHOLDERS", "MaskSpan", "apply", "disjoint", "moved", "moved_place"]

PLACEHOLDERS: dict[MaskedKind, str] = {
    "name": "[name]",
    "role": "[role]",
    "affiliation": "[institution]",
    "email": "[e-mail]",
    "orcid": "[ORCID iD]",
    "contact": "[contact]",
    "funding": "[funding]",
    "acknowledgement": "[acknowledgement]",
    "biography": "[biography]",
}
"""One a kind, whatever stood there: how long a name was, or of how many parts, must not be seen."""

_REPEATED = re.compile(
    r"(?P<first>\[(?:name|institution|role|funding)\])"
    r"(?:(?:\s{0,2}[,;/&]\s{0,2}(?:and\s)?|\s{1,2}(?:and\s|&\s|at\s(?:the\s)?|of\s(?:the\s)?)?)(?P=first)){1,30}"
)
"""Placeholders of one kind in a row."""
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


class MaskSpan(NamedTuple):
    start: int
    end: int
    kind: MaskedKind
    cut: bool = False
    """Taken out without a trace, as lines and sections are; otherwise a placeholder of its kind takes its place."""


def disjoint(spans: Iterable[MaskSpan]) -> list[MaskSpan]:
    """In the text's order. Of two that overlap, what is cut wins over what is replaced, then the longer one."""
    ordered = sorted(spans, key=lambda one: (one.start, not one.cut, -one.end))
    chosen: list[MaskSpan] = []
    for span in ordered:
        if span.start >= span.end:
            continue
        last = chosen[-1] if chosen else None
        if last is None or span.start >= last.end:
            chosen.append(span)
        elif span.end > last.end:
            if span.cut and not last.cut:
                chosen[-1] = last._replace(end=span.start)
                if chosen[-1].start >= chosen[-1].end:
                    chosen.pop()
                chosen.append(span)
            else:
                chosen.append(span._replace(start=last.end))
    return chosen


def apply(text: str, spans: Sequence[MaskSpan]) -> str:
    """The text with placeholders; `spans` are disjoint and in order."""
    pieces, place = [], 0
    for span in spans:
        pieces += [text[place : span.start], "" if span.cut else PLACEHOLDERS[span.kind]]
        place = span.end
    masked = _REPEATED.sub(r"\g<first>", "".join([*pieces, text[place:]]))
    return _BLANK_LINES.sub("\n\n", masked).strip() if spans else text


def moved(spans: Sequence[MaskSpan], start: int, end: int) -> list[MaskSpan]:
    """Those parts of the spans that lie in a stretch of the text, counted from its start."""
    return [
        span._replace(start=max(span.start, start) - start, end=min(span.end, end) - start)
        for span in spans
        if span.start < end and span.end > start
    ]


def moved_place(place: int, spans: Sequence[MaskSpan]) -> int:
    """Where a place of the text lies in the masked one, but for blank lines that were drawn together."""
    shift = 0
    for span in spans:
        if span.start >= place:
            break
        shift += (0 if span.cut else len(PLACEHOLDERS[span.kind])) - (min(span.end, place) - span.start)
    return max(0, place + shift)
