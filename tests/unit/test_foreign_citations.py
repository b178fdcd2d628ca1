"""Citations of works that nobody gave: found in every form, in time that grows with the text, and hardly elsewhere."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.citing.foreign_citations import foreign_citations
from assayer.citing.foreign_labels import UNKNOWN_LABEL, WRONG_FORM, foreign_labels
from assayer.text.lookalikes import folded, words_of
from benchmarks.attacks.citation_forms import HONEST, CitationForm, citation_forms

FORMS = list(citation_forms())
LABELS = ("P1", "P2")


def _found(text: str) -> list[str]:
    found = [*foreign_citations(text), *foreign_labels(text, LABELS)]
    return [text[one.start : one.end] for one in found]


@given(st.sampled_from(FORMS), st.sampled_from(["As {} shows, it works.", "It was seen before {}.", "{} found it."]))
def test_every_form_is_found_wherever_it_stands(form: CitationForm, sentence: str) -> None:
    assert _found(sentence.format(form.text.replace("\u200b", "").replace("\u202e", "")))


@pytest.mark.parametrize("text", HONEST)
def test_years_intervals_indices_and_names_of_things_are_no_citations(text: str) -> None:
    assert _found(text) == []


def test_what_is_found_says_what_it_looks_like_and_whether_the_sentence_reads_on_without_it() -> None:
    text = "Shown (Lee, 2020) and in Lee (2021); see https://example.org/x."
    assert [(text[one.start : one.end], one.kind, one.bracketed) for one in foreign_citations(text)] == [
        ("(Lee, 2020)", "an author and a year", True),
        ("Lee (2021)", "an author and a year", False),
        ("https://example.org/x.", "an address", False),
    ]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Results from transfer learning [3, 7] agree.", ["[3, 7]"]),
        ("The approach within robotics [2, 5] is a list of baselines [3, 5].", ["[2, 5]", "[3, 5]"]),
        ("GPT-4[12] and BERT (base)[1] win; deep nets work[1][2] well.", ["[12]", "[1]", "[1]", "[2]"]),
        ("The idea of ‘Attention Is All You Need’ carries over.", ["Attention Is All You Need"]),
        ("The idea of 'Attention Is All You Need' carries over.", ["Attention Is All You Need"]),
    ],
)
def test_citation_is_found_beside_words_of_intervals_indices_and_in_any_quotation_marks(
    text: str, cited: list[str]
) -> None:
    assert _found(text) == cited


def test_a_title_is_foreign_only_where_it_was_not_shown() -> None:
    text = "It extends “Attention Is All You Need” to maps."
    assert [one.kind for one in foreign_citations(text)] == ["a title"]
    assert foreign_citations(text, lambda: f" {words_of('Attention is all you need. We …')} ") == []


def test_a_title_that_was_shown_may_have_its_year_and_stand_after_words_of_the_answers_own() -> None:
    shown = f" {words_of('Attention Is All You Need')} "
    for text in ("Attention Is All You Need (2017) is near.", "Earlier work: Attention Is All You Need; it is near."):
        assert foreign_citations(text)
        assert foreign_citations(text, lambda: shown) == []
    assert foreign_citations("As Need (2017) says.", lambda: shown)
    run = "Plan: Maps, or Stay Silent: Calibrated Abstention for Generated Maps The next sentence"
    assert foreign_citations(run)
    assert (
        foreign_citations(
            run, lambda: f" {words_of('Maps, or Stay Silent: Calibrated Abstention for Generated Maps')} "
        )
        == []
    )
    cited = f" {words_of('We follow Smith and Lee (2020) closely.')} "
    assert foreign_citations("We follow Smith and Lee (2020).", lambda: cited)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Seen [P1] and [P2; P1].", []),
        ("Seen [P3].", [UNKNOWN_LABEL]),
        ("Seen [P100].", [UNKNOWN_LABEL]),
        ("Seen (P1).", [WRONG_FORM]),
        ("P2 shows it.", [WRONG_FORM]),
        ("[P450 enzymes] and (P300) and P95 of the latencies (p. 3).", []),
        ("As P12 shows and [P7, Table 2] confirms.", [UNKNOWN_LABEL] * 2),
        ("[P34 shows this] and (P9, Table 2) and Paper 99 do.", [UNKNOWN_LABEL] * 3),
        ("[P1 receptors] are given a label.", [WRONG_FORM]),
    ],
)
def test_labels_are_those_given_in_the_form_asked_for(text: str, kinds: list[str]) -> None:
    shown = "The P300 is a brain wave."
    assert [one.kind for one in foreign_labels(text, LABELS, lambda: shown)] == kinds


def test_a_name_of_the_idea_that_looks_like_a_label_is_none_unless_it_stands_in_square_brackets() -> None:
    shown = "The wave P2 follows."
    assert list(foreign_labels("P2 grows.", LABELS, lambda: shown)) == []
    assert [one.kind for one in foreign_labels("(P2) grows.", LABELS, lambda: shown)] == [WRONG_FORM]


@given(st.text())
def test_a_folded_text_is_as_long_as_it_was(text: str) -> None:
    assert len(folded(text)) == len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "Smith, ",
        "Smith and ",
        "[1, ",
        "(a, ",
        "10.",
        "a.",
        "a-",
        "“A B ",
        "A B ",
        "https:",
        "[P1 ",
        "(P",
        "et al ",
        "Ab: C ",
    ],
)
def test_twice_the_text_takes_about_twice_the_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        best = float("inf")
        for _ in range(2):
            start = time.perf_counter()
            foreign_citations(text)
            list(foreign_labels(text, LABELS))
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(40_000) < 4 * seconds(20_000) + 0.05
