"""Long proposals: each dimension is judged on the sections that speak to it."""

from assayer.ideas.parsing import parse_idea
from assayer.methods.innoeval.board.sections import (
    choose_sections,
    collect_shown_sections,
    count_unread_characters,
    is_read_by_section,
)
from assayer.methods.innoeval.dimensions import RubricDimension, load_built_in_dimensions
from assayer.methods.innoeval.options import BoardOptions
from assayer.models import Section

BUILT_IN_DIMENSIONS = load_built_in_dimensions()
SECTIONS = tuple(
    Section(title=title, text=f"{title} says what it says. " * 4)
    for title in ("Motivation", "Related work", "Experiment design", "Budget and timeline", "Appendix K")
)
PROPOSAL = parse_idea("\n\n".join(f"# {section.title}\n\n{section.text}" for section in SECTIONS), source="proposal.md")


def get_dimension(name: str) -> RubricDimension:
    return next(item for item in BUILT_IN_DIMENSIONS if item.name == name)


def list_chosen_titles(name: str, limit: int = 10_000) -> list[str]:
    return [
        section.title for section in choose_sections(get_dimension(name), BUILT_IN_DIMENSIONS, SECTIONS, limit).sections
    ]


def test_dimension_reads_only_its_relevant_sections() -> None:
    assert list_chosen_titles("feasibility") == ["Experiment design", "Budget and timeline"]
    assert list_chosen_titles("novelty") == ["Motivation", "Related work"]
    assert list_chosen_titles("significance") == ["Motivation"]


def test_unassigned_section_is_read_along_with_assigned_sections() -> None:
    dimensions = tuple(item for item in BUILT_IN_DIMENSIONS if item.sections)
    reading = choose_sections(get_dimension("feasibility"), dimensions, SECTIONS, 10_000)
    assert [section.title for section in reading.sections] == ["Experiment design", "Budget and timeline", "Appendix K"]
    assert reading.unread == 0


def test_assigned_sections_take_precedence_and_unread_text_is_counted() -> None:
    dimensions = tuple(item for item in BUILT_IN_DIMENSIONS if item.sections)
    reading = choose_sections(get_dimension("feasibility"), dimensions, SECTIONS, 250)
    assert [section.title for section in reading.sections] == ["Experiment design", "Budget and timeline"]
    assert sum(len(section.text) for section in reading.sections) <= 250
    assert reading.unread == 2


def test_each_section_is_shown_once_with_the_dimensions_that_read_it() -> None:
    dimensions = tuple(item for item in BUILT_IN_DIMENSIONS if item.sections)
    read = {item.name: choose_sections(item, dimensions, SECTIONS, 250) for item in dimensions}
    shown_sections = collect_shown_sections(SECTIONS, dimensions, read)
    assert [section.title for section in shown_sections] == [section.title for section in SECTIONS]
    assert shown_sections[2].dimensions == ("Feasibility", "Validity")
    assert all(item.text.startswith(section.text) for item, section in zip(SECTIONS, shown_sections, strict=True))
    max_lengths = [max(reading.lengths[place] for reading in read.values()) for place in range(len(SECTIONS))]
    assert [len(section.text) for section in shown_sections] == max_lengths
    assert [bool(section.text) for section in shown_sections] == [
        bool(section.dimensions) for section in shown_sections
    ]


def test_only_long_texts_are_read_by_section() -> None:
    assert not is_read_by_section(PROPOSAL, BoardOptions())
    assert is_read_by_section(PROPOSAL, BoardOptions(long_idea_chars=100))


def test_unread_characters_are_counted_once_across_dimensions() -> None:
    dimensions = tuple(item for item in BUILT_IN_DIMENSIONS if item.sections)
    sections = PROPOSAL.sections
    readings = [choose_sections(item, dimensions, sections, 250) for item in dimensions]
    shown_lengths = [max(reading.lengths[place] for reading in readings) for place in range(len(sections))]
    lost_characters = sum(
        len(section.text) - shown_length for section, shown_length in zip(sections, shown_lengths, strict=True)
    )
    assert lost_characters > 0
    assert count_unread_characters(PROPOSAL, 0, readings) == lost_characters
    assert count_unread_characters(PROPOSAL, len(PROPOSAL.text), readings) == 0
    budget = PROPOSAL.text.index(sections[3].text)
    assert shown_lengths[3] < len(sections[3].text) - 10
    assert count_unread_characters(PROPOSAL, budget + len(sections[3].text) - 10, readings) == 10
    assert (
        count_unread_characters(
            PROPOSAL, 0, [choose_sections(item, dimensions, sections, 10_000) for item in dimensions]
        )
        == 0
    )
