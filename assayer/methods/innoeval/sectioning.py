"""Which sections of a long proposal speak to a dimension, told by their headings."""

from collections.abc import Sequence
from typing import NamedTuple

from assayer.methods.innoeval.board_options import BoardOptions
from assayer.methods.innoeval.dimensions import Dimension
from assayer.models import Idea, Section

__all__ = ["Reading", "by_section", "read_for", "unseen"]

_FEWEST = 3
"""Sections; a text in fewer has no structure to go by."""


class Reading(NamedTuple):
    """What is read of an idea for one dimension, in the idea's order."""

    sections: tuple[Section, ...]
    left_out: tuple[str, ...]
    """Headings of what speaks to other dimensions."""
    no_room: tuple[str, ...]
    """Headings of what would have been read, had there been more."""
    unread: int
    """Sections that speak to the dimension and found no room, or not all of it."""
    lengths: tuple[int, ...]
    """Characters shown of each section of the idea, from its beginning."""


def by_section(idea: Idea, options: BoardOptions) -> bool:
    if options.section_wise == "auto":
        return len(idea.text) >= options.long_idea_chars and len(idea.sections) >= _FEWEST
    return options.section_wise == "on" and len(idea.sections) > 1


def read_for(dimension: Dimension, judged: Sequence[Dimension], sections: Sequence[Section], limit: int) -> Reading:
    """Sections whose heading the dimension names come first when room is short; then those that no dimension names,
    since nobody can tell what they hold. With neither, all sections are read."""
    named = [place for place, one in enumerate(sections) if _speaks_to(dimension, one)]
    nobodys = [place for place, one in enumerate(sections) if not any(_speaks_to(other, one) for other in judged)]
    wanted = [*named, *(place for place in nobodys if place not in named)] or list(range(len(sections)))
    chosen: dict[int, Section] = {}
    room, unread = limit, 0
    for place in wanted:
        text = sections[place].text
        cut = text if len(text) <= room else text[:room].rpartition(" ")[0]
        unread += len(cut) < len(text)
        if cut:
            chosen[place] = Section(title=sections[place].title, text=cut)
        room -= len(cut)
    return Reading(
        sections=tuple(chosen[place] for place in sorted(chosen)),
        left_out=tuple(one.title for place, one in enumerate(sections) if place not in wanted),
        no_room=tuple(sections[place].title for place in sorted(wanted) if place not in chosen),
        unread=unread,
        lengths=tuple(len(chosen[place].text) if place in chosen else 0 for place in range(len(sections))),
    )


def unseen(idea: Idea, opening: int, readings: Sequence[Reading]) -> int:
    """Characters of sections that no reading shows and that lie beyond the idea's `opening` characters."""
    count = place = 0
    for number, section in enumerate(idea.sections):
        start = max(place, idea.text.find(section.text, place))
        place = start + len(section.text)
        shown = max((one.lengths[number] for one in readings), default=0)
        count += len(section.text) - max(shown, min(opening - start, len(section.text)))
    return count


def _speaks_to(dimension: Dimension, section: Section) -> bool:
    """A dimension that names no headings is judged on all of them."""
    title = section.title.casefold()
    return not dimension.sections or any(word.casefold() in title for word in dimension.sections)
