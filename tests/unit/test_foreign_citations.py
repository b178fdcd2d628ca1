"""Citations of works that nobody gave: found in every form, in time that grows with the text, and hardly elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.citing.foreign_citations import find_foreign_citations
from assayer.citing.foreign_labels import UNKNOWN_LABEL, WRONG_FORM, find_foreign_labels
from assayer.text.lookalikes import fold_lookalikes, normalise_words
from benchmarks.hostile.attacks.citation_forms import (
    HONEST_TEXTS,
    UNCOVERED_FORMS,
    CitationForm,
    generate_citation_forms,
)

FORMS = list(generate_citation_forms())
LABELS = ("P1", "P2")


def find_foreign_texts(text: str) -> list[str]:
    spans = [*find_foreign_citations(text), *find_foreign_labels(text, LABELS)]
    return [text[item.start : item.end] for item in spans]


@given(st.sampled_from(FORMS), st.sampled_from(["As {} shows, it works.", "It was seen before {}.", "{} found it."]))
def test_every_citation_form_is_found_in_any_position(form: CitationForm, sentence: str) -> None:
    assert find_foreign_texts(sentence.format(form.text.replace("\u200b", "").replace("\u202e", "")))


@pytest.mark.parametrize("text", HONEST_TEXTS)
def test_years_intervals_indices_and_ordinary_names_are_not_citations(text: str) -> None:
    assert find_foreign_texts(text) == []


@pytest.mark.parametrize("text", UNCOVERED_FORMS)
def test_ambiguous_citation_forms_are_ignored(text: str) -> None:
    assert find_foreign_texts(f"It was seen before {text}.") == []


def test_found_citation_reports_its_kind_and_whether_it_is_bracketed() -> None:
    text = "Shown (Lee, 2020) and by Lee (2021); see https://example.org/x."
    assert [
        (text[foreign_citation.start : foreign_citation.end], foreign_citation.kind, foreign_citation.bracketed)
        for foreign_citation in find_foreign_citations(text)
    ] == [
        ("(Lee, 2020)", "an author and a year", True),
        ("Lee (2021)", "an author and a year", False),
        ("https://example.org/x.", "an address", False),
    ]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Lee and Kim (2020), Lee [1] and Lee et al. agree.", ["Lee and Kim (2020)", "Lee et al."]),
        ("As Lee (2020) and Big Lee (2021) say.", ["Lee (2020)"]),
        ("*Attention Is All You Need* carries over.", ["Attention Is All You Need"]),
    ],
)
def test_only_the_citation_is_found(text: str, cited: list[str]) -> None:
    assert find_foreign_texts(text) == cited


def test_title_is_foreign_only_if_it_was_not_shown() -> None:
    text = "It extends “Attention Is All You Need” to maps."
    assert [foreign_citation.kind for foreign_citation in find_foreign_citations(text)] == ["a title"]
    assert find_foreign_citations(text, lambda: f" {normalise_words('Attention is all you need. We …')} ") == []


def test_title_followed_by_year_is_not_an_author_citation() -> None:
    assert find_foreign_citations("Attention Is All You Need (2017) shows it.") == []
    assert find_foreign_citations("As Need (2017) says.")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Seen [P1] and [P2; P1].", []),
        ("Seen [P3].", [UNKNOWN_LABEL]),
        ("Seen [P100].", [UNKNOWN_LABEL]),
        ("Seen (P1).", [WRONG_FORM]),
        ("P2 shows it.", [WRONG_FORM]),
        ("[P450 enzymes] and (P300) and P95 of the latencies (p. 3).", []),
        ("Ste5 is recruited by PI(4,5)P2 and PIP2.", []),
        ("As P12 shows and [P7, Table 2] confirms.", [UNKNOWN_LABEL] * 2),
        ("[P34 shows this] and (P9, Table 2) and Paper 99 do.", [UNKNOWN_LABEL] * 3),
        ("[P1 receptors] are given a label.", [WRONG_FORM]),
    ],
)
def test_unknown_and_malformed_labels_are_reported(text: str, kinds: list[str]) -> None:
    evidence_text = "The P300 is a brain wave."
    assert [foreign_label.kind for foreign_label in find_foreign_labels(text, LABELS, lambda: evidence_text)] == kinds


def test_idea_term_resembling_a_label_is_allowed_unless_bracketed() -> None:
    evidence_text = "The wave P2 follows."
    assert list(find_foreign_labels("P2 grows.", LABELS, lambda: evidence_text)) == []
    assert [
        foreign_label.kind for foreign_label in find_foreign_labels("(P2) grows.", LABELS, lambda: evidence_text)
    ] == [WRONG_FORM]


@given(st.text())
def test_folding_preserves_text_length(text: str) -> None:
    assert len(fold_lookalikes(text)) == len(text)


def test_names_of_sites_and_peaks_are_not_labels() -> None:
    """Seen in a review of a protease: its sites are P1, P1' and P3'."""
    sentence = "A531S changes P1', whereas the simulations single out the P3' residue and the glutamine at P1."
    assert list(find_foreign_labels(sentence, ())) == []
    assert [label.kind for label in find_foreign_labels(sentence + " [P1]", ())] == [UNKNOWN_LABEL]
    assert list(find_foreign_labels("A change of P1' is not read by the enzyme [P2].", LABELS)) == []
