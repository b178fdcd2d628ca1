"""Separate a text from its reference lists."""

from typing import NamedTuple

from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.entry_splitting import FENCE
from assayer.reference_lists.list_finding import find_lists
from assayer.reference_lists.page_lines import join_pages, mask_page_lines

_GAP = "\n\n"


class PartedText(NamedTuple):
    """Text without its reference lists, and the removed lists without their headings."""

    text: str
    lists: tuple[str, ...] = ()
    cuts: tuple[tuple[int, int, int], ...] = ()
    """Start and end of each list in the whole text, and the offset at which the remaining text continues after it."""

    def moved(self, offset: int) -> int:
        """Convert an offset in the whole text to the text without lists. An offset inside a list becomes the position
        where the list was."""
        place = offset
        for start, end, continued in self.cuts:
            if offset >= end:
                place = continued + offset - end
            elif offset >= start:
                return min(continued, len(self.text))
        return min(place, len(self.text))


def part_lists(text: str, *, titled: bool = False) -> PartedText:
    """Return the text and its reference lists, or only those with a heading if `titled`, separately; headings of empty
    lists are removed too. A section that is titled like a list but contains prose stays in the text."""
    masked = mask_page_lines(text)
    inner = {
        span: FENCE.sub("", join_pages(masked[span.inner : span.end])).strip()
        for span in find_lists(masked, titled=titled)
    }
    spans = [span for span, listed in inner.items() if not listed or parse_references(listed)]
    if not spans:
        return PartedText(text)
    pieces, cuts, position = "", list[tuple[int, int, int]](), 0
    for span in spans:
        pieces += text[position : span.start].rstrip()
        rest = text[span.end :]
        position = len(text) - len(rest.lstrip("\n"))
        pieces += _GAP if pieces and text[position:].strip() else ""
        cuts.append((span.start, position, len(pieces)))
    lists = tuple(filter(None, map(inner.__getitem__, spans)))
    return PartedText((pieces + text[position:]).strip(), lists, tuple(cuts))
