"""Find the sentences in which an idea first cites each of its references, with the citation marked."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import CitedWork
from assayer.own_references.citing_marks import BRACKETS, Mark, identifier_marks, name_marks, number_marks, numbers_in
from assayer.text.sentences import sentence_spans

_BLOCK_END = re.compile(r"\n\s{0,20}\n|\n(?= {0,3}[-*#+] )")
"""End of a paragraph or of a list item."""
_MAX_CHARS = 600
_THIS, _ANOTHER = "[this source]", "[another source]"


class CitingSentence(NamedTuple):
    text: str = ""
    """Sentence that cites the work; empty if no citation of it was recognised."""
    marked: str = ""
    """Same sentence with `[this source]` for the work's own citation mark and `[another source]` for other numbers."""


def find_citing_passages(body: str, works: Sequence[CitedWork]) -> tuple[CitingSentence, ...]:
    """Return the passage that cites each work. Passages are found by the number in the list, or else by names and year,
    or else by an identifier. If the list has no numbers, works are numbered by position, unless the text cites most of
    them by name."""
    by_name, by_identifier = name_marks(body, works), identifier_marks(body, works)
    numbers = _numbers(works, counted=len(by_name) * 2 < len(works))
    by_number = number_marks(body, numbers)
    ends = sorted({end for _, end in sentence_spans(body)} | {match.end() for match in _BLOCK_END.finditer(body)})
    places, greatest = {place: number for number, place in numbers.items()}, max(numbers, default=0)
    found = []
    for place in range(len(works)):
        number = places.get(place, 0)
        mark = by_number.get(number) or by_name.get(place) or by_identifier.get(place)
        found.append(_sentence_at(mark, body, ends, number, greatest) if mark else CitingSentence())
    return tuple(found)


def _numbers(works: Sequence[CitedWork], *, counted: bool) -> dict[int, int]:
    """Return the positions of the works, keyed by number. A number that several entries use is left out."""
    given = Counter(work.number for work in works if work.number)
    if given or not counted:
        return {work.number: place for place, work in enumerate(works) if work.number and given[work.number] == 1}
    return dict(zip(range(1, len(works) + 1), range(len(works)), strict=True))


def _sentence_at(mark: Mark, body: str, ends: Sequence[int], number: int, greatest: int) -> CitingSentence:
    """Return the sentence at a citation mark; a long sentence is cut around the mark."""
    following = bisect_right(ends, mark.start)
    start = ends[following - 1] if following else 0
    end = ends[following] if following < len(ends) else len(body)
    start, end = max(start, mark.start - _MAX_CHARS), max(mark.end, min(end, mark.start + _MAX_CHARS))

    def relabelled(brackets: "re.Match[str]") -> str:
        ranges = numbers_in(brackets[0], greatest)
        if ranges is None:
            return brackets[0]
        return _THIS if any(first <= number <= last for first, last in ranges) else _ANOTHER

    before, after = (BRACKETS.sub(relabelled, part) for part in (body[start : mark.start], body[mark.end : end]))
    return CitingSentence(_one_line(body[start:end]), _one_line(f"{before}{_THIS}{after}"))


def _one_line(text: str) -> str:
    return " ".join(text.split()).lstrip("-*#+ ")
