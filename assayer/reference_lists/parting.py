"""Take the reference lists out of a text."""

from typing import NamedTuple

from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.list_finding import find_lists

_GAP = "\n\n"


class PartedText(NamedTuple):
    """Text without its reference lists, and those lists without their headings."""

    text: str
    lists: tuple[str, ...] = ()
    cuts: tuple[tuple[int, int, int], ...] = ()
    """Start and end of each list in the whole text, and where the text after it now begins."""

    def moved(self, offset: int) -> int:
        """Return where an offset of the whole text is in the text without lists; inside a list, where it was."""
        place = offset
        for start, end, now in self.cuts:
            if offset >= end:
                place = now + offset - end
            elif offset >= start:
                return min(now, len(self.text))
        return min(place, len(self.text))


def part_lists(text: str) -> PartedText:
    """Return the text and its reference lists apart, without the headings of empty lists. A section that is titled like
    a list but holds prose stays in the text."""
    inner = {span: text[span.inner : span.end].strip() for span in find_lists(text)}
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
