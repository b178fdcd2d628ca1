"""Which sections of a long proposal are relevant to a dimension, judged by their headings."""

from collections.abc import Sequence
from typing import NamedTuple

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.options import BoardOptions
from assayer.models import Idea, Section
from assayer.text.cutting import first_words

__all__ = ["DimensionSections", "reads_by_section", "sections_for", "unread_characters"]

_FEWEST = 3
"""Sections; a text in fewer has no structure to go by."""


class DimensionSections(NamedTuple):
    """The sections of an idea that are read for one dimension, in the idea's order."""

    sections: tuple[Section, ...]
    left_out: tuple[str, ...]
    """Headings of sections on other dimensions."""
    no_room: tuple[str, ...]
    """Headings of relevant sections for which there was no room."""
    unread: int
    """Relevant sections that were left out or cut for lack of room."""
    lengths: tuple[int, ...]
    """Characters shown of each section of the idea, from its beginning."""


def reads_by_section(idea: Idea, options: BoardOptions) -> bool:
    if options.section_wise == "auto":
        return len(idea.text) >= options.long_idea_chars and len(idea.sections) >= _FEWEST
    return options.section_wise == "on" and len(idea.sections) > 1


def sections_for(
    dimension: RubricDimension, judged: Sequence[RubricDimension], sections: Sequence[Section], limit: int
) -> DimensionSections:
    """Sections whose heading the dimension names come first when room is short; then those that no dimension names,
    since their content is unknown. With neither, all sections are read."""
    named = [place for place, one in enumerate(sections) if _is_named_by(dimension, one)]
    unclaimed = [place for place, one in enumerate(sections) if not any(_is_named_by(other, one) for other in judged)]
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
        left_out=tuple(one.title for place, one in enumerate(sections) if place not in chosen_places),
        no_room=tuple(sections[place].title for place in sorted(chosen_places) if place not in chosen),
        unread=unread,
        lengths=tuple(len(chosen[place].text) if place in chosen else 0 for place in range(len(sections))),
    )


def unread_characters(idea: Idea, opening: int, readings: Sequence[DimensionSections]) -> int:
    """Characters of sections that no reading shows and that lie beyond the idea's `opening` characters."""
    count = place = 0
    for number, section in enumerate(idea.sections):
        start = max(place, idea.text.find(section.text, place))
        place = start + len(section.text)
        shown = max((one.lengths[number] for one in readings), default=0)
        count += len(section.text) - max(shown, min(opening - start, len(section.text)))
    return count


def _is_named_by(dimension: RubricDimension, section: Section) -> bool:
    """A dimension that names no headings is judged on all of them."""
    title = section.title.casefold()
    return not dimension.sections or any(word.casefold() in title for word in dimension.sections)
