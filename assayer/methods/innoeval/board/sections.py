"""Select, by their headings, the sections of a long proposal that are relevant to a dimension."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.options import BoardOptions
from assayer.methods.innoeval.schemas import ShownSection
from assayer.models import Idea, Section
from assayer.text.cutting import keep_beginning

_MIN_SECTIONS = 3
"""Minimum number of sections; a text with fewer has no usable structure."""


class DimensionSections(NamedTuple):
    """The sections of an idea that are read for one dimension, in the idea's order."""

    sections: tuple[Section, ...]
    unread: int
    """Number of relevant sections that were omitted or cut because of the limit."""
    lengths: tuple[int, ...]
    """Number of characters shown from the start of each of the idea's sections."""


def is_read_by_section(idea: Idea, options: BoardOptions) -> bool:
    return len(idea.text) >= options.long_idea_chars and len(idea.sections) >= _MIN_SECTIONS


def choose_sections(
    dimension: RubricDimension, all_dimensions: Sequence[RubricDimension], sections: Sequence[Section], limit: int
) -> DimensionSections:
    """Choose the sections to read for a dimension. If the limit is too small for all, sections whose headings the
    dimension names come first, then sections that no dimension names, because they could be relevant to any. If there
    are neither, all sections are candidates."""
    named_indexes = [index for index, section in enumerate(sections) if _is_named_by(dimension, section)]
    unclaimed_indexes = [
        index
        for index, section in enumerate(sections)
        if not any(_is_named_by(other_dimension, section) for other_dimension in all_dimensions)
    ]
    chosen_places = [*named_indexes, *(index for index in unclaimed_indexes if index not in named_indexes)] or list(
        range(len(sections))
    )
    sections_by_index: dict[int, Section] = {}
    remaining_chars, unread_count = limit, 0
    for index in chosen_places:
        text = sections[index].text
        shown_text = keep_beginning(text, remaining_chars)
        unread_count += len(shown_text) < len(text)
        if shown_text:
            sections_by_index[index] = Section(title=sections[index].title, text=shown_text)
        remaining_chars -= len(shown_text)
    return DimensionSections(
        sections=tuple(sections_by_index[index] for index in sorted(sections_by_index)),
        unread=unread_count,
        lengths=tuple(
            len(sections_by_index[index].text) if index in sections_by_index else 0 for index in range(len(sections))
        ),
    )


def collect_shown_sections(
    sections: Sequence[Section], dimensions: Sequence[RubricDimension], read: Mapping[str, DimensionSections]
) -> tuple[ShownSection, ...]:
    """Return all sections, each once, up to the longest part of it that is read for any dimension. A section for which
    there was no room has an empty text."""
    shown_sections = []
    for index, section in enumerate(sections):
        lengths = {dimension.title: read[dimension.name].lengths[index] for dimension in dimensions}
        readers = tuple(title for title, length in lengths.items() if length)
        shown_sections.append(
            ShownSection(title=section.title, text=section.text[: max(lengths.values())], dimensions=readers)
        )
    return tuple(shown_sections)


def count_unread_characters(idea: Idea, opening: int, readings: Sequence[DimensionSections]) -> int:
    """Count the characters after the idea's first `opening` characters that no reading shows."""
    count = place = 0
    for number, section in enumerate(idea.sections):
        start = max(place, idea.text.find(section.text, place))
        place = start + len(section.text)
        shown_length = max((reading.lengths[number] for reading in readings), default=0)
        count += len(section.text) - max(shown_length, min(opening - start, len(section.text)))
    return count


def _is_named_by(dimension: RubricDimension, section: Section) -> bool:
    """Return whether the dimension names the section's heading. A dimension that names no headings covers all
    sections."""
    title = section.title.casefold()
    return not dimension.sections or any(word.casefold() in title for word in dimension.sections)
