"""Spans to mask in a text: resolve overlaps, and replace the spans by placeholders."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assayer.models import MaskedKind

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
"""Placeholder for each kind of masked text. It is the same for every span, so that it reveals neither a name's length
nor its number of parts."""

_REPEATED = re.compile(
    r"(?P<first>\[(?:name|institution|role|funding)\])"
    r"(?:(?:\s{0,2}[,;/&]\s{0,2}(?:and\s)?|\s{1,2}(?:and\s|&\s|at\s(?:the\s)?|of\s(?:the\s)?)?)(?P=first)){1,30}"
)
"""Pattern for consecutive placeholders of the same kind, which are merged into one."""
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


class MaskSpan(NamedTuple):
    start: int
    end: int
    kind: MaskedKind
    cut: bool = False
    """True to remove the span without a trace, as for whole lines and sections; false to replace it by the placeholder
    for its kind."""


def remove_overlaps(spans: Iterable[MaskSpan]) -> list[MaskSpan]:
    """Return non-overlapping spans in text order. A span inside another is dropped. If two spans overlap, the later one
    is trimmed; but if it is a cut that reaches beyond a replacement, the replacement is trimmed instead."""
    ordered = sorted(spans, key=lambda item: (item.start, not item.cut, -item.end))
    chosen: list[MaskSpan] = []
    for span in ordered:
        while chosen and span.cut and not chosen[-1].cut and span.start < chosen[-1].end < span.end:
            last = chosen.pop()
            if last.start < span.start:
                chosen.append(last._replace(end=span.start))
        start = max(span.start, chosen[-1].end if chosen else 0)
        if start < span.end:
            chosen.append(span._replace(start=start))
    return chosen


def apply(text: str, spans: Sequence[MaskSpan]) -> str:
    """Return the text with its spans removed or replaced by placeholders. `spans` must be disjoint and in order."""
    pieces, place = [], 0
    for span in spans:
        pieces += [text[place : span.start], "" if span.cut else PLACEHOLDERS[span.kind]]
        place = span.end
    masked = _REPEATED.sub(r"\g<first>", "".join([*pieces, text[place:]]))
    return _BLANK_LINES.sub("\n\n", masked).strip() if spans else text


def clip_spans(spans: Sequence[MaskSpan], start: int, end: int) -> list[MaskSpan]:
    """Return the parts of the spans between `start` and `end`, with offsets relative to `start`."""
    return [
        span._replace(start=max(span.start, start) - start, end=min(span.end, end) - start)
        for span in spans
        if span.start < end and span.end > start
    ]


def map_offset(place: int, spans: Sequence[MaskSpan]) -> int:
    """Convert an offset in the text to one in the masked text. Joined blank lines are ignored."""
    shift = 0
    for span in spans:
        if span.start >= place:
            break
        shift += (0 if span.cut else len(PLACEHOLDERS[span.kind])) - (min(span.end, place) - span.start)
    return max(0, place + shift)
