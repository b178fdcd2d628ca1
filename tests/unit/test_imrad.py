"""Titles of sections tell which part of a paper follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.imrad import Part, number_of, opens_part, part_of, without_number


@pytest.mark.parametrize(
    ("title", "part"),
    [
        ("Abstract", "abstract"),
        ("SUMMARY", "abstract"),
        ("1 Introduction", "introduction"),
        ("I. INTRODUCTION", "introduction"),
        ("Background and related work", "introduction"),
        ("Materials & methods", "methods"),
        ("STAR Methods", "methods"),
        ("3.1. Experimental setup", "methods"),
        ("Patients and methods", "methods"),
        ("IV-A. Data Collection", "methods"),
        ("Statistical analysis", "methods"),
        ("Results and Discussion", "results"),
        ("4 Experiments", "results"),
        ("Main results", "results"),
        ("Ablation study: ablations of the encoder", "results"),
        ("5 Conclusion and Future Work", "discussion"),
        ("Limitations:", "discussion"),
        ("Literature Cited", "references"),
        ("Acknowledgments", "back"),
        ("Authors' contributions", "back"),
        ("Availability of data and materials", "back"),
        ("A. Appendix", "back"),
        ("Attention is all you need", None),
        ("Selectivity with optimal stimulation pattern", None),
        ("In which we find that the results of earlier work do not hold for any language", None),
    ],
)
def test_title_tells_its_part(title: str, part: Part | None) -> None:
    assert part_of(title) == part


@pytest.mark.parametrize(
    ("title", "number", "rest"),
    [
        ("1 Introduction", "1", "Introduction"),
        ("3.1. Data", "3.1", "Data"),
        ("IV. Experiments", "IV", "Experiments"),
        ("IV-A Data", "IV-A", "Data"),
        ("B.2 Proofs", "B.2", "Proofs"),
        ("Section 3: Methods", "3", "Methods"),
        ("A Study of Birds", "", "A Study of Birds"),
        ("I think", "", "I think"),
        ("3D printing", "", "3D printing"),
        ("2024", "", "2024"),
    ],
)
def test_number_is_told_from_the_title(title: str, number: str, rest: str) -> None:
    assert (number_of(title), without_number(title)) == (number, rest)


@given(st.text(max_size=80))
def test_any_text_has_a_part_or_none_and_loses_no_words(title: str) -> None:
    assert without_number(title) in title
    assert opens_part(title) is None or part_of(title) == opens_part(title)
