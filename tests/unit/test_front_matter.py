"""Front matter in the forms of Markdown programs: its title and authors are used, and the block is not judged."""

import pytest

from assayer.ideas.parsing import parse_idea

BODY = (
    "## Problem\n\nRehearsal recovers most of the accuracy that fine-tuning loses, and small models forget along a "
    "power law. We will test whether forgetting can be foreseen.\n"
)


@pytest.mark.parametrize(
    "block",
    [
        '---\ntitle: "Scoring plans"\nauthor: Ada Verne\n---\n\n',
        '+++\ntitle = "Scoring plans"\nauthors = ["Ada Verne"]\ndate = 2024-01-01\n+++\n\n',
        "Title: Scoring plans\nAuthor: Ada Verne\nDate: 2024\n\n",
        "#+TITLE: Scoring plans\n#+AUTHOR: Ada Verne\n#+OPTIONS: toc:nil\n\n",
        "% Scoring plans\n% Ada Verne\n% 2024\n\n",
    ],
)
def test_front_matter_gives_title_and_authors_and_is_not_judged(block: str) -> None:
    idea = parse_idea(block + BODY, "idea.md")
    assert (idea.title, idea.people_fields) == ("Scoring plans", ("Ada Verne",))
    assert idea.text == BODY.strip()


@pytest.mark.parametrize(
    "start", ["+++\nnot = = toml\n+++\n\n", "Title: Scoring plans\n\n", "% 5 of the plans fail\n\n"]
)
def test_text_that_only_resembles_front_matter_is_judged(start: str) -> None:
    idea = parse_idea(start + BODY, "idea.md")
    assert idea.reading is not None
    assert idea.reading.front_matter == ()


def test_attributes_of_a_heading_are_not_part_of_its_title() -> None:
    idea = parse_idea(BODY.replace("Problem", "Problem {#sec-problem .unnumbered}"), "idea.md")
    assert [section.title for section in idea.sections] == ["Problem"]
