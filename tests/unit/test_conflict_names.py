"""Spellings of people and universities in proposals: reversed, shortened, with middle names, in other languages."""

import pytest

from assayer.reference_lists.list_removal import split_off_lists
from orchestrator.access.roles import MemberId
from orchestrator.reviewing.conflict_search import ConflictSearch, ReviewerDetails

BODY = "We rehearse what the next round of training would overwrite. " * 4


def find_conflict_sources(
    line: str, affiliation: str = "", name: str = "Ada Byron", email: str = "ada@example.org"
) -> list[str]:
    search = ConflictSearch([ReviewerDetails(MemberId("mb_1"), name, affiliation, email)])
    return [item.source for item in search.find_conflicts("Rehearsal", f"# Rehearsal\n\n{line}\n\n{BODY}")]


@pytest.mark.parametrize(
    "line",
    [
        "Authors: Ada Byron",
        "Authors: Byron, Ada",
        "Authors: Byron, Ada Lovelace",
        "Authors: A. Byron",
        "Principal investigator: Prof. Dr. Ada Lovelace Byron",
        "Principal investigator: ADA LOVELACE KING BYRON",
        "Authors: Grace Hopper, Ada L. Byron",
        "Contact: Ada@Example.org.",
        "Write to <ada@example.org>, please.",
    ],
)
def test_reviewer_is_recognised_in_every_name_format(line: str) -> None:
    assert find_conflict_sources(line) == ["name"]


@pytest.mark.parametrize(
    "line",
    [
        "Authors: Ada Lovelace, Byron Reese",
        "Authors: Ada Lovelace. Byron College",
        "Authors: Ada One Two Three Byron",
        "We met Ada and Byron there.",
        "Contact: ada@example.org.uk",
        "Contact: x.ada@example.org",
    ],
)
def test_similar_names_are_not_mistaken_for_the_reviewer(line: str) -> None:
    assert find_conflict_sources(line) == []


def test_citing_the_reviewer_in_references_is_not_a_conflict() -> None:
    """The reference list is parted from the text of a proposal when the proposal is read."""
    text = f"{BODY}\n\n## References\n\n[1] Ada Lovelace Byron. Notes on the engine. 1843."
    assert find_conflict_sources(text) == ["name"]
    assert find_conflict_sources(split_off_lists(text).text) == []


@pytest.mark.parametrize(
    ("affiliation", "name_in_text"),
    [
        ("University of Turin", "Turin University"),
        ("University of Turin", "Univ. of Turin"),
        ("University of Turin", "Universita di Torino"),
        ("University of Turin", "Università degli Studi di Torino"),
        ("Università di Torino", "University of Turin"),
        ("ETH; University of Vienna", "Universität Wien"),
        ("Technische Universität München", "Technical University of Munich"),
        ("Freie Universität Berlin", "Free University of Berlin"),
        ("University of Copenhagen", "Københavns Universitet"),
        ("Polytechnic University of Milan", "Politecnico di Milano University"),
    ],
)
def test_a_university_is_found_under_its_other_names(affiliation: str, name_in_text: str) -> None:
    assert find_conflict_sources(f"Authors: Grace Hopper, {name_in_text}", affiliation) == ["affiliation"]


@pytest.mark.parametrize(
    ("affiliation", "name_in_text"),
    [
        ("University of Turin", "Polytechnic University, Turin"),
        ("University of Turin", "University of Trento"),
        ("University of York", "York University"),
        ("University of Michigan", "Central Michigan University"),
        ("Washington University", "University of Washington"),
        ("University of Munich", "Munich. University hospital"),
        ("Turin", "University of Milan"),
    ],
)
def test_different_institution_is_not_mistaken_for_reviewer_affiliation(affiliation: str, name_in_text: str) -> None:
    assert find_conflict_sources(f"Authors: Grace Hopper, {name_in_text}", affiliation) == []


def test_university_mentioned_only_in_text_is_not_a_conflict() -> None:
    assert (
        find_conflict_sources("Data of the city of Turin and of its university are used.", "University of Turin") == []
    )
