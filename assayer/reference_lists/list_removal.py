"""Separate a text from its reference lists."""

from collections.abc import Iterable
from typing import NamedTuple

from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.list_finding import find_lists
from assayer.reference_lists.list_lines import strip_fences
from assayer.reference_lists.page_lines import join_across_page_breaks, mask_page_lines

_GAP = "\n\n"


class SplitText(NamedTuple):
    """Text without its reference lists, and the removed lists without their headings."""

    text: str
    lists: tuple[str, ...] = ()
    cuts: tuple[tuple[int, int, int], ...] = ()
    """Start and end of each list in the whole text, and the offset at which the remaining text continues after it."""

    def convert_offset(self, offset: int) -> int:
        """Convert an offset in the whole text to the text without lists. An offset inside a list becomes the position
        where the list was."""
        place = offset
        for start, end, continued in self.cuts:
            if offset >= end:
                place = continued + offset - end
            elif offset >= start:
                return min(continued, len(self.text))
        return min(place, len(self.text))


def split_off_lists(text: str, *, titled: bool = False) -> SplitText:
    """Return the text and its reference lists, or only those with a heading if `titled`, separately; headings of empty
    lists are removed too. A section that is titled like a list but contains prose stays in the text."""
    masked = mask_page_lines(text)
    inner = {
        span: strip_fences(join_across_page_breaks(masked[span.inner : span.end])).strip()
        for span in find_lists(masked, titled=titled)
    }
    spans = [span for span, listed in inner.items() if not listed or parse_references(listed)]
    split = cut_spans(text, [(span.start, span.end) for span in spans])
    return split._replace(lists=tuple(filter(None, map(inner.__getitem__, spans))))


def cut_spans(text: str, spans: Iterable[tuple[int, int]]) -> SplitText:
    """Return the text without these ranges, which are in order, as separate paragraphs."""
    pieces, cuts, position, length = list[str](), list[tuple[int, int, int]](), 0, 0
    end_of_text = len(text.rstrip())
    for start, end in spans:
        pieces.append(text[position:start].rstrip())
        position = end
        while text[position : position + 1] == "\n":
            position += 1
        length += len(pieces[-1])
        if length and position < end_of_text:
            pieces.append(_GAP)
            length += len(_GAP)
        cuts.append((start, position, length))
    return SplitText("".join([*pieces, text[position:]]).strip(), (), tuple(cuts)) if cuts else SplitText(text)
