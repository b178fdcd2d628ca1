"""Numbers of claims that no cited text holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.citing.claim_numbers import KnownNumbers, collect_numbers
from assayer.models import PaperId

A, B = PaperId("a"), PaperId("b")


def find_missing_numbers(claim: str, text: str, idea: str = "") -> tuple[str, ...]:
    return KnownNumbers(collect_numbers(idea), {A: collect_numbers(text)}).find_missing(claim, [A])


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("38 % of them", "38% of them"),
        ("38 percent of them", "a share of 0.38"),
        ("a share of 0.38", "38 per cent of them"),
        ("38% of them", "38 and 40 % of them"),
        ("1,000 samples", "1000 samples"),
        ("1000 samples", "1,000 samples"),
        ("12000 samples", "12 000 samples"),
        ("12,000 samples", "12k samples"),
        ("1.5B parameters", "1.5 billion parameters"),
        ("3 of the 7 tasks", "three of the seven tasks"),
        ("71 % accuracy", "an accuracy of 71.3 %"),
        ("0.81 AUC", "AUC of 0.812"),
        ("GPT-4 and Table 2 on CIFAR-10 in 3D, F1, the 2nd", "nothing"),
        ("uses two stages, three raters and a dozen seeds", "nothing"),
        ("a gain of 3.5 points", "from −3,5 points"),
        ("12 000 patients", "12,000 patients"),
        ("4,5 points", "4.5 points"),
        ("tasks 3,5", "tasks 3 and 5"),
        ("a 5m cable", "a cable of 5 m"),
        ("９７% of them", "97 % of them"),
        ("in step 3 of experiment 12", "nothing"),
        ("5000 patients", "5000¹ patients"),
        ("3 days", "3½ days"),
        ("rose 2x", "rose twofold, or twice as much"),
    ],
)
def test_number_in_different_notation_is_recognised(claim: str, text: str) -> None:
    assert find_missing_numbers(claim, text) == ()


@pytest.mark.parametrize(
    ("claim", "text", "missing_numbers"),
    [
        ("It saves 38 % of the cost in 7 of 9 tasks", "It saves 30 % of the cost in nine tasks", ("38 %", "7")),
        ("It saves 0.38", "It saves 38", ("0.38",)),
        ("on 1,000 samples", "on 100 samples", ("1,000",)),
        ("on 10k samples", "on 10 samples", ("10k",)),
        ("71.3 % accuracy", "71 % accuracy", ("71.3 %",)),
        ("They study 5000 patients", "They study patients", ("5000",)),
        ("In this experiment 97% were right", "Most were right", ("97%",)),
        ("They group 40 items", "They group items", ("40",)),
        ("It was ９７%", "It was 79 %", ("９７%",)),
        ("12 000 patients", "1,200 patients", ("12 000",)),
        ("10m parameters", "12 million parameters", ("10m",)),
    ],
)
def test_number_missing_from_source_is_reported_as_written(
    claim: str, text: str, missing_numbers: tuple[str, ...]
) -> None:
    assert find_missing_numbers(claim, text) == missing_numbers


def test_numbers_of_the_idea_and_of_every_cited_paper_are_known() -> None:
    known_numbers = KnownNumbers(
        collect_numbers("40 raters"), {A: collect_numbers("50 raters"), B: collect_numbers("60 raters")}
    )
    assert known_numbers.find_missing("40, 50 and 60 raters", [A, B]) == ()
    assert known_numbers.find_missing("40, 50 and 60 raters", [A]) == ("60",)


def test_claim_without_citation_is_not_checked() -> None:
    assert KnownNumbers(frozenset(), {A: frozenset()}).find_missing("42 raters", []) == ()


@given(st.text(alphabet="0123456789.,% kKmMoOnNeE-–/:", max_size=200))
def test_every_number_is_found_in_its_own_text(text: str) -> None:
    assert find_missing_numbers(text, text) == ()
