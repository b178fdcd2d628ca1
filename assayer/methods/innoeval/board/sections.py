"""Selection by heading of the sections of a long proposal that are relevant to a dimension."""

from collections.abc import Sequence
from typing import NamedTuple

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.options import BoardOptions
from assayer.models import Idea, Section
from assayer.text.cutting import first_words

_FEWEST = 3
"""Minimum number of sections; a text with fewer has no usable structure."""


class DimensionSections(NamedTuple):
    """Sections of an idea that are read for one dimension, in the idea's order."""

    sections: tuple[Section, ...]
    left_out: tuple[str, ...]
    """Headings of sections that concern other dimensions."""
    no_room: tuple[str, ...]
    """Headings of relevant sections that did not fit within the limit."""
    unread: int
    """Number of relevant sections that were omitted or cut because of the limit."""
    lengths: tuple[int, ...]
    """Number of characters shown of each section of the idea, counted from its start."""


def reads_by_section(idea: Idea, options: BoardOptions) -> bool:
    return len(idea.text) >= options.long_idea_chars and len(idea.sections) >= _FEWEST


def sections_for(
    dimension: RubricDimension, judged: Sequence[RubricDimension], sections: Sequence[Section], limit: int
) -> DimensionSections:
    """Return the sections to read for a dimension. If the limit is too small for all, sections whose headings the
    dimension names come first, then sections that no dimension names, because their content is unknown. If there are no
    such sections, all sections are read."""
    named = [place for place, section in enumerate(sections) if _is_named_by(dimension, section)]
    unclaimed = [
        place for place, section in enumerate(sections) if not any(_is_named_by(other, section) for other in judged)
    ]
    chosen_places = [*named, *(place for place in unclaimed if place not in named)] or list(range(len(sections)))
    chosen: dict[int, Section] = {}
    room, unread = limit, 0
    for place in chosen_places:
        text = sections[place].text
        cut = first_words(text, room)
        unread += len(cut) < len(text)
        if cut:
            chosen[place] = Section(title=sections[place].title, text=cut)
        room -= len(cut)
    return DimensionSections(
        sections=tuple(chosen[place] for place in sorted(chosen)),
        left_out=tuple(section.title for place, section in enumerate(sections) if place not in chosen_places),
        no_room=tuple(sections[place].title for place in sorted(chosen_places) if place not in chosen),
        unread=unread,
        lengths=tuple(len(chosen[place].text) if place in chosen else 0 for place in range(len(sections))),
    )


def unread_characters(idea: Idea, opening: int, readings: Sequence[DimensionSections]) -> int:
    """Return the number of characters after the idea's first `opening` characters that no reading shows."""
    count = place = 0
    for number, section in enumerate(idea.sections):
        start = max(place, idea.text.find(section.text, place))
        place = start + len(section.text)
        shown = max((reading.lengths[number] for reading in readings), default=0)
        count += len(section.text) - max(shown, min(opening - start, len(section.text)))
    return count


def _is_named_by(dimension: RubricDimension, section: Section) -> bool:
    """Return whether the dimension names the section's heading. A dimension without headings covers all sections."""
    title = section.title.casefold()
    return not dimension.sections or any(word.casefold() in title for word in dimension.sections)
