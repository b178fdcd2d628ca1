"""Sentences of an idea that cite its references, and the question to the model about them."""

import pytest

from assayer.models import CitedWork, Identifiers
from assayer.own_references.passages import find_citing_passages
from assayer.reference_lists.entry_parser import parse_references
from assayer.reports.reference_wording import describe_passage_support
from tests.unit.own_references_fixture import FOX, IDEA, checked, partly
from tests.unit.twins import TwinLlm


def texts(body: str, works: list[CitedWork]) -> list[str]:
    return [item.text for item in find_citing_passages(body, works)]


def marked(body: str, work: CitedWork) -> str:
    return find_citing_passages(body, [work])[0].marked


def work(*authors: str, year: int = 2019, letter: str = "", number: int | None = None) -> CitedWork:
    raw = f"{', '.join(authors)} ({year}{letter}). A title."
    return CitedWork(title="A title", authors=authors, year=year, raw=raw, number=number)


def test_citation_numbers_match_the_numbers_in_the_list() -> None:
    listed = "\n".join(f"[{n}] Lee{n}, A. (2019). Replay of kind {n} for text. Methods." for n in (1, 3, 4, 5))
    works = list(parse_references(listed))
    assert [item.number for item in works] == [1, 3, 4, 5]
    assert texts("It is so [3]. It is not [4, 5]. First [1].", works) == [
        "First [1].",
        "It is so [3].",
        "It is not [4, 5].",
        "It is not [4, 5].",
    ]


def test_mark_of_a_remark_in_a_note_cites_no_entry() -> None:
    cited = work("Lee, A.", number=1)
    assert texts("Plots are wet.[^1] We sow [1] rice.\n\n[^1]: Of four metres.", [cited]) == ["We sow [1] rice."]


@pytest.mark.parametrize("mark", ["[{}] ", "{}. ", "{}) ", "({}) ", "[^{}]: "])
def test_number_is_read_from_every_list_style(mark: str) -> None:
    listed = "\n".join(f"{mark.format(n)}Lee, A. (2019). Replay of kind {n} for text. Methods." for n in (1, 2, 3))
    assert [parse_reference.number for parse_reference in parse_references(listed)] == [1, 2, 3]


def test_unnumbered_list_has_no_numbers() -> None:
    listed = "\n".join(f"- Lee, A. (2019). Replay of kind {n} for text. Methods." for n in (1, 2, 3))
    assert [parse_reference.number for parse_reference in parse_references(listed)] == [None] * 3


@pytest.mark.parametrize("interval", ["[0, 1]", "[1, 500]", "[3-2]"])
def test_numeric_intervals_are_not_read_as_citations(interval: str) -> None:
    works = [work("Lee, A.", number=1), work("Diaz, C.", number=2)]
    (first, second) = find_citing_passages(f"Scores in {interval} follow a power law [2].", works)
    assert first.text == ""
    assert second.marked == f"Scores in {interval} follow a power law [this source]."


def test_number_shared_by_two_entries_has_no_passage() -> None:
    assert texts("It is so [1].", [work("Lee, A.", number=1), work("Diaz, C.", number=1)]) == ["", ""]


def test_letters_after_the_year_distinguish_works() -> None:
    works = [work("Lee, A.", letter="a"), work("Lee, A.", letter="b")]
    body = "One is so (Lee, 2019a). Another is not (Lee, 2019b)."
    assert texts(body, works) == ["One is so (Lee, 2019a).", "Another is not (Lee, 2019b)."]
    assert texts("Both are so (Lee, 2019a, 2019b).", works) == ["Both are so (Lee, 2019a, 2019b)."] * 2
    assert texts("It is so (Lee, 2019).", works) == ["", ""]


def test_author_year_citation_is_matched_by_first_author() -> None:
    alone, led = work("Lee, A."), work("Smith, B.", "Lee, A.")
    body = "Smith and Lee (2019) show one. Then Lee (2019) shows another. Lee et al. (2019) show all."
    assert texts(body, [alone, led]) == ["Then Lee (2019) shows another.", "Smith and Lee (2019) show one."]
    several = work("Lee, A.", "Chen, B.", "Fox, E.")
    assert texts(body, [several]) == ["Then Lee (2019) shows another."]
    assert texts(body, [alone, several])[1] == "Lee et al. (2019) show all."


def test_ambiguous_author_year_citation_has_no_passage() -> None:
    assert texts("It is so (Lee, 2019).", [work("Lee, A."), work("Lee, B.")]) == ["", ""]


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Models forget (Lee, 2019).", "Models forget [this source]."),
        ("Models forget (Chen, 2018; Lee et al., 2019).", "Models forget (Chen, 2018; [this source])."),
        ("As Lee, Chen, and Fox (2019) say, models forget.", "As [this source] say, models forget."),
        ("See Lee’s 2019 survey.", "See [this source] survey."),
        ("In the words of\nVan der Lee (2019), yes.", "In the words of Van der [this source], yes."),
        ("Models forget (Lee 2019, p. 5).", "Models forget ([this source], p. 5)."),
    ],
)
def test_names_and_year_are_marked_as_the_source(passage: str, claim: str) -> None:
    assert marked(passage, work("Lee, A.")) == claim


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("See https://doi.org/10.1000/xyz, as ever.", "See [this source], as ever."),
        ("See doi:10.1000/XYZ.", "See [this source]."),
        ("Not 10.1000/xyz12 but [it](https://doi.org/10.1000/xyz).", "Not 10.1000/xyz12 but [it]([this source])."),
    ],
)
def test_identifier_is_marked_as_the_source(passage: str, claim: str) -> None:
    assert marked(passage, CitedWork(doi="10.1000/xyz")) == claim


async def test_passage_is_not_checked_against_abstract_of_another_title() -> None:
    theirs = FOX.model_copy(update={"identifiers": Identifiers(doi="10.1000/x")})
    llm = TwinLlm({"support.claims": partly})
    own = await checked(IDEA.replace("Journal of Forgetting, 2021.", "2021. doi:10.1000/x"), local=[theirs], llm=llm)
    assert own.entries[1].outcome == "differs"
    assert describe_passage_support(own.entries[1]) == "not checked: the record found has a different title."
