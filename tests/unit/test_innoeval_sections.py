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

FIVE = load_built_in_dimensions()
SECTIONS = tuple(
    Section(title=title, text=f"{title} says what it says. " * 4)
    for title in ("Motivation", "Related work", "Experiment design", "Budget and timeline", "Appendix K")
)
PROPOSAL = parse_idea("\n\n".join(f"# {section.title}\n\n{section.text}" for section in SECTIONS), source="proposal.md")


def dimension(name: str) -> RubricDimension:
    return next(item for item in FIVE if item.name == name)


def titles(name: str, limit: int = 10_000) -> list[str]:
    return [section.title for section in choose_sections(dimension(name), FIVE, SECTIONS, limit).sections]


def test_dimension_reads_only_its_relevant_sections() -> None:
    assert titles("feasibility") == ["Experiment design", "Budget and timeline"]
    assert titles("novelty") == ["Motivation", "Related work"]
    assert titles("significance") == ["Motivation"]


def test_unassigned_section_is_read_along_with_assigned_sections() -> None:
    named = tuple(item for item in FIVE if item.sections)
    reading = choose_sections(dimension("feasibility"), named, SECTIONS, 10_000)
    assert [section.title for section in reading.sections] == ["Experiment design", "Budget and timeline", "Appendix K"]
    assert reading.unread == 0


def test_assigned_sections_take_precedence_and_unread_text_is_counted() -> None:
    named = tuple(item for item in FIVE if item.sections)
    reading = choose_sections(dimension("feasibility"), named, SECTIONS, 250)
    assert [section.title for section in reading.sections] == ["Experiment design", "Budget and timeline"]
    assert sum(len(section.text) for section in reading.sections) <= 250
    assert reading.unread == 2


def test_each_section_is_shown_once_with_the_dimensions_that_read_it() -> None:
    named = tuple(item for item in FIVE if item.sections)
    read = {item.name: choose_sections(item, named, SECTIONS, 250) for item in named}
    shown = collect_shown_sections(SECTIONS, named, read)
    assert [section.title for section in shown] == [section.title for section in SECTIONS]
    assert shown[2].dimensions == ("Feasibility", "Validity")
    assert all(item.text.startswith(section.text) for item, section in zip(SECTIONS, shown, strict=True))
    most = [max(reading.lengths[place] for reading in read.values()) for place in range(len(SECTIONS))]
    assert [len(section.text) for section in shown] == most
    assert [bool(section.text) for section in shown] == [bool(section.dimensions) for section in shown]


def test_only_long_texts_are_read_by_section() -> None:
    assert not is_read_by_section(PROPOSAL, BoardOptions())
    assert is_read_by_section(PROPOSAL, BoardOptions(long_idea_chars=100))


def test_unread_characters_are_counted_once_across_dimensions() -> None:
    named = tuple(item for item in FIVE if item.sections)
    sections = PROPOSAL.sections
    readings = [choose_sections(item, named, sections, 250) for item in named]
    shown = [max(reading.lengths[place] for reading in readings) for place in range(len(sections))]
    lost = sum(len(section.text) - most for section, most in zip(sections, shown, strict=True))
    assert lost > 0
    assert count_unread_characters(PROPOSAL, 0, readings) == lost
    assert count_unread_characters(PROPOSAL, len(PROPOSAL.text), readings) == 0
    budget = PROPOSAL.text.index(sections[3].text)
    assert shown[3] < len(sections[3].text) - 10
    assert count_unread_characters(PROPOSAL, budget + len(sections[3].text) - 10, readings) == 10
    assert count_unread_characters(PROPOSAL, 0, [choose_sections(item, named, sections, 10_000) for item in named]) == 0
