"""Sentences of an idea that cite its references, and the question to the model about them."""

import pytest

from assayer.models import CitedWork, Identifiers
from assayer.own_references.passages import find_citing_passages
from assayer.reference_lists.entry_parser import parse_references
from assayer.reports.reference_wording import describe_passage_support
from tests.unit.own_references_fixture import FOX, IDEA, answer_partly_supported, check_references
from tests.unit.twins import TwinLlm


def list_passage_texts(body: str, cited_works: list[CitedWork]) -> list[str]:
    return [item.text for item in find_citing_passages(body, cited_works)]


def mark_passage(body: str, work: CitedWork) -> str:
    return find_citing_passages(body, [work])[0].marked


def make_work(*authors: str, year: int = 2019, letter: str = "", number: int | None = None) -> CitedWork:
    raw = f"{', '.join(authors)} ({year}{letter}). A title."
    return CitedWork(title="A title", authors=authors, year=year, raw=raw, number=number)


def test_citation_numbers_match_the_numbers_in_the_list() -> None:
    reference_list = "\n".join(f"[{n}] Lee{n}, A. (2019). Replay of kind {n} for text. Methods." for n in (1, 3, 4, 5))
    cited_works = list(parse_references(reference_list))
    assert [item.number for item in cited_works] == [1, 3, 4, 5]
    assert list_passage_texts("It is so [3]. It is not [4, 5]. First [1].", cited_works) == [
        "First [1].",
        "It is so [3].",
        "It is not [4, 5].",
        "It is not [4, 5].",
    ]


def test_remark_mark_in_a_note_does_not_cite_an_entry() -> None:
    cited = make_work("Lee, A.", number=1)
    assert list_passage_texts("Plots are wet.[^1] We sow [1] rice.\n\n[^1]: Of four metres.", [cited]) == [
        "We sow [1] rice."
    ]


@pytest.mark.parametrize("mark", ["[{}] ", "{}. ", "{}) ", "({}) ", "[^{}]: "])
def test_number_is_read_from_every_list_style(mark: str) -> None:
    reference_list = "\n".join(
        f"{mark.format(n)}Lee, A. (2019). Replay of kind {n} for text. Methods." for n in (1, 2, 3)
    )
    assert [parse_reference.number for parse_reference in parse_references(reference_list)] == [1, 2, 3]


def test_unnumbered_list_has_no_numbers() -> None:
    reference_list = "\n".join(f"- Lee, A. (2019). Replay of kind {n} for text. Methods." for n in (1, 2, 3))
    assert [parse_reference.number for parse_reference in parse_references(reference_list)] == [None] * 3


@pytest.mark.parametrize("interval", ["[0, 1]", "[1, 500]", "[3-2]"])
def test_numeric_intervals_are_not_read_as_citations(interval: str) -> None:
    cited_works = [make_work("Lee, A.", number=1), make_work("Diaz, C.", number=2)]
    (first, second) = find_citing_passages(f"Scores in {interval} follow a power law [2].", cited_works)
    assert first.text == ""
    assert second.marked == f"Scores in {interval} follow a power law [this source]."


def test_number_shared_by_two_entries_has_no_passage() -> None:
    assert list_passage_texts("It is so [1].", [make_work("Lee, A.", number=1), make_work("Diaz, C.", number=1)]) == [
        "",
        "",
    ]


def test_letters_after_the_year_distinguish_works() -> None:
    cited_works = [make_work("Lee, A.", letter="a"), make_work("Lee, A.", letter="b")]
    body = "One is so (Lee, 2019a). Another is not (Lee, 2019b)."
    assert list_passage_texts(body, cited_works) == ["One is so (Lee, 2019a).", "Another is not (Lee, 2019b)."]
    assert (
        list_passage_texts("Both are so (Lee, 2019a, 2019b).", cited_works) == ["Both are so (Lee, 2019a, 2019b)."] * 2
    )
    assert list_passage_texts("It is so (Lee, 2019).", cited_works) == ["", ""]


def test_author_year_citation_is_matched_by_first_author() -> None:
    lone_author_work, second_author_work = make_work("Lee, A."), make_work("Smith, B.", "Lee, A.")
    body = "Smith and Lee (2019) show one. Then Lee (2019) shows another. Lee et al. (2019) show all."
    assert list_passage_texts(body, [lone_author_work, second_author_work]) == [
        "Then Lee (2019) shows another.",
        "Smith and Lee (2019) show one.",
    ]
    several = make_work("Lee, A.", "Chen, B.", "Fox, E.")
    assert list_passage_texts(body, [several]) == ["Then Lee (2019) shows another."]
    assert list_passage_texts(body, [lone_author_work, several])[1] == "Lee et al. (2019) show all."


def test_ambiguous_author_year_citation_has_no_passage() -> None:
    assert list_passage_texts("It is so (Lee, 2019).", [make_work("Lee, A."), make_work("Lee, B.")]) == ["", ""]


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
    assert mark_passage(passage, make_work("Lee, A.")) == claim


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("See https://doi.org/10.1000/xyz, as ever.", "See [this source], as ever."),
        ("See doi:10.1000/XYZ.", "See [this source]."),
        ("Not 10.1000/xyz12 but [it](https://doi.org/10.1000/xyz).", "Not 10.1000/xyz12 but [it]([this source])."),
    ],
)
def test_identifier_is_marked_as_the_source(passage: str, claim: str) -> None:
    assert mark_passage(passage, CitedWork(doi="10.1000/xyz")) == claim


async def test_passage_is_not_checked_against_abstract_of_another_title() -> None:
    paper_of_doi = FOX.model_copy(update={"identifiers": Identifiers(doi="10.1000/x")})
    llm = TwinLlm({"support.claims": answer_partly_supported})
    references = await check_references(
        IDEA.replace("Journal of Forgetting, 2021.", "2021. doi:10.1000/x"), local_papers=[paper_of_doi], llm=llm
    )
    assert references.entries[1].outcome == "differs"
    assert describe_passage_support(references.entries[1]) == "not checked: the record found has a different title."
