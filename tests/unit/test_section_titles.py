"""Titles of sections tell which part of a paper follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.text.section_titles import (
    PaperPart,
    ProposalPart,
    is_back_title,
    is_known_title,
    is_main_title,
    names_methods_or_results,
    number_of,
    opens_part,
    part_of,
    proposal_part_of,
    split_printed_number,
    strip_number,
)


@pytest.mark.parametrize(
    ("title", "part"),
    [
        ("Abstract", "abstract"),
        ("1 Introduction", "introduction"),
        ("Background and related work", "introduction"),
        ("Materials & methods", "methods"),
        ("3.1. Experimental setup", "methods"),
        ("IV-A. Data Collection", "methods"),
        ("Statistical analysis", "methods"),
        ("Results and Discussion", "results"),
        ("4 Experiments", "results"),
        ("Ablation study: ablations of the encoder", "results"),
        ("5 Conclusion and Future Work", "discussion"),
        ("Limitations:", "discussion"),
        ("Literature Cited", "references"),
        ("Acknowledgments", "back"),
        ("Availability of data and materials", "back"),
        ("A. Appendix", "back"),
        ("Attention is all you need", None),
        ("In which we find that the results of earlier work do not hold for any language", None),
    ],
)
def test_section_title_is_mapped_to_paper_part(title: str, part: PaperPart | None) -> None:
    assert part_of(title) == part


@pytest.mark.parametrize(
    ("title", "number", "bare_title"),
    [
        ("1 Introduction", "1", "Introduction"),
        ("IV-A Data", "IV-A", "Data"),
        ("B.2 Proofs", "B.2", "Proofs"),
        ("Section 3: Methods", "3", "Methods"),
        ("A Study of Birds", "", "A Study of Birds"),
        ("I think", "", "I think"),
        ("3D printing", "", "3D printing"),
        ("2024", "", "2024"),
    ],
)
def test_section_number_is_separated_from_title(title: str, number: str, bare_title: str) -> None:
    assert (number_of(title), strip_number(title)) == (number, bare_title)


@given(st.text(max_size=80))
def test_any_title_is_parsed_consistently_without_altering_text(title: str) -> None:
    assert strip_number(title) in title
    assert opens_part(title) is None or part_of(title) == opens_part(title)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("3.1 Training details", ("3.1", "Training details")),
        ("A. Proofs", ("A", "Proofs")),
        ("Section 2 Background", ("2", "Background")),
        ("Related work", ("", "Related work")),
    ],
)
def test_printed_section_number_is_split_from_title(line: str, parts: tuple[str, str]) -> None:
    assert split_printed_number(line) == parts


@pytest.mark.parametrize(
    ("title", "is_known", "is_main", "is_back_matter"),
    [
        ("Introduction", True, True, False),
        ("Materials & Methods:", True, False, False),
        ("Step-by-step experiment plan", True, False, False),
        ("Acknowledgements", False, False, True),
        ("References", True, False, True),
        ("Attention is all you need", False, False, False),
    ],
)
def test_known_body_and_back_matter_titles_are_recognised(
    title: str, is_known: bool, is_main: bool, is_back_matter: bool
) -> None:
    assert (is_known_title(title), is_main_title(title), is_back_title(title)) == (is_known, is_main, is_back_matter)


@pytest.mark.parametrize(
    ("title", "is_recognised"),
    [("2. Study area", True), ("Error analysis", True), ("Related work and results", False), ("Some history", False)],
)
def test_methods_and_results_titles_are_recognised(title: str, is_recognised: bool) -> None:
    assert names_methods_or_results(title) is is_recognised


@pytest.mark.parametrize(
    ("heading", "part"),
    [
        ("Motivation", "problem"),
        ("Proposed approach", "method"),
        ("Experiment plan", "evaluation"),
        ("Timeline", None),
    ],
)
def test_proposal_heading_is_mapped_to_proposal_part(heading: str, part: ProposalPart | None) -> None:
    assert proposal_part_of(heading) == part
