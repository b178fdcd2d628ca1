"""Columns of a proposal's row beside its text: all are kept, and applicant, institution and amount are recognised."""

import pytest

from assayer.ideas.own_columns import amount_in, applicant_of


def test_additional_columns_are_kept_and_recognised() -> None:
    row = {
        "id": "A-1",
        "title": "Rehearsal",
        "text": "We rehearse what is forgotten.",
        "Applicant": "Ada Byron",
        "Institution": "Yale University",
        "budget_usd": "1,200,000",
        "Programme": "Memory",
    }
    applicant = applicant_of(row)
    assert (applicant.name, applicant.institution, applicant.amount) == ("Ada Byron", "Yale University", 1_200_000)
    assert applicant.columns == {name: row[name] for name in ("Applicant", "Institution", "budget_usd", "Programme")}


def test_sections_of_a_row_without_text_are_not_columns() -> None:
    row = {"title": "Rehearsal", "problem": "Models forget what they learnt before.", "PI": "Ada Byron", "year": 2026}
    assert applicant_of(row).columns == {"PI": "Ada Byron", "year": "2026"}
    assert applicant_of("only a text") == ("", "", None, {})


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("75000", 75_000),
        ("$ 75,000", 75_000),
        ("1.200.000,50 EUR", 1_200_000.5),
        ("1,200,000.50", 1_200_000.5),
        ("12 500 €", 12_500),
        ("1'250'000 CHF", 1_250_000),
        ("99.5", 99.5),
        ("75.000", 75_000),
        ("ask us", None),
        ("", None),
        ("between 10 and 20", None),
    ],
)
def test_amounts_are_read_with_both_separators(text: str, amount: float | None) -> None:
    assert amount_in(text) == amount
