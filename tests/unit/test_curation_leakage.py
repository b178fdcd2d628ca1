"""Whether a question gives its paper's method away is told by words alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.curation.leakage import measure_leakage, split_abstract
from assayer.curation.options import LeakageLimits

_TITLE = "SplitFlow: Segmenting Cells without Labels"
_PROBLEM = (
    "Counting touching cells in microscope images needs outlines that experts draw by hand. "
    "Without such labels, segmentation confuses neighbouring cells of the same colour. "
)
_METHOD = (
    "We propose to diffuse heat from random seeds over a graph of superpixels and to cut where temperatures part. "
    "Seeds are moved by simulated annealing until the cut no longer changes. "
)
_RESULTS = "Experiments on three collections show that 91 percent of the outlines agree with experts."
_ABSTRACT = _PROBLEM + _METHOD + _RESULTS
_LIMITS = LeakageLimits()


def test_abstract_is_split_into_problem_and_method_without_results() -> None:
    parts = split_abstract(_ABSTRACT)
    assert parts.found_by_wording
    assert "by hand" in parts.problem
    assert "neighbouring cells" in parts.problem
    assert "heat" in parts.method
    assert "annealing" in parts.method
    assert "91 percent" not in parts.problem + parts.method


def test_abstract_without_proposal_wording_treats_later_sentences_as_method() -> None:
    parts = split_abstract("Cells touch in images. Heat diffuses over superpixels. Cuts follow the temperatures.")
    assert parts == ("Cells touch in images. ", "Heat diffuses over superpixels.  Cuts follow the temperatures.", False)
    assert split_abstract("Heat diffuses over superpixels.").method == "Heat diffuses over superpixels."


@pytest.mark.parametrize(
    "question",
    [
        "How can touching cells of the same colour be told apart in microscope images when no expert draws outlines?",
        "What would let segmentation separate neighbouring cells without labels drawn by hand?",
    ],
)
def test_a_question_in_the_words_of_the_problem_does_not_leak(question: str) -> None:
    leakage = measure_leakage(question, _TITLE, _ABSTRACT, _LIMITS)
    assert not leakage.leaks
    assert (leakage.share, leakage.longest_run, leakage.names) == (0.0, 0, ())


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Can heat diffusing over superpixel graphs segment cells?", {"heat", "diffusing", "superpixel", "graphs"}),
        ("Could cells be outlined by annealed seeds and temperature?", {"annealed", "seeds", "temperature"}),
    ],
)
def test_question_with_inflected_method_words_leaks(question: str, words: set[str]) -> None:
    leakage = measure_leakage(question, _TITLE, _ABSTRACT, _LIMITS)
    assert leakage.leaks
    assert words <= set(leakage.repeated)
    assert leakage.share >= _LIMITS.share


def test_method_phrase_in_a_long_question_leaks() -> None:
    question = (
        "How can touching cells of one colour in microscope images, whose outlines experts draw by hand and whose "
        "neighbours segmentation confuses, be counted if we cut where temperatures part and have no labels?"
    )
    leakage = measure_leakage(question, _TITLE, _ABSTRACT, _LIMITS)
    assert leakage.share < _LIMITS.share
    assert leakage.longest_run >= _LIMITS.run
    assert leakage.leaks


def test_name_coined_by_paper_leaks_on_its_own() -> None:
    leakage = measure_leakage("How would SplitFlow count touching cells by hand?", _TITLE, _ABSTRACT, _LIMITS)
    assert leakage.leaks
    assert leakage.names == ("SplitFlow",)


def test_name_already_used_in_problem_does_not_leak() -> None:
    abstract = "BERT forgets rare words. We propose to train BERT on glosses drawn from a dictionary."
    assert measure_leakage("Why does BERT forget rare words?", "Rare Words", abstract, _LIMITS).names == ()


def test_topic_stated_in_title_is_not_counted_as_method() -> None:
    abstract = "We propose to freeze gradients while counting rare birds. Birds are counted by freezing twice."
    question = "How can rare birds be counted when few have been seen?"
    assert not measure_leakage(question, "Freezing Gradients for Counting Rare Birds by Night", abstract, _LIMITS).leaks
    assert measure_leakage(question, "Freezing Gradients", abstract, _LIMITS).leaks


@given(st.text(max_size=400), st.text(max_size=80), st.text(max_size=400))
def test_leakage_is_measured_for_any_text(question: str, title: str, abstract: str) -> None:
    leakage = measure_leakage(question, title, abstract, _LIMITS)
    assert 0 <= leakage.share <= 1
    assert leakage.leaks == bool(leakage.names or leakage.share >= _LIMITS.share or leakage.longest_run >= _LIMITS.run)
