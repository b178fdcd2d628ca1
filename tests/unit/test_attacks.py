"""The attack on citations: the real gateway and a method from end to end, nothing printed, and a table that says so."""

import pytest

from assayer.citing import answer_texts
from assayer.citing.answer_texts import TextRole
from benchmarks.hostile.attacks.citation_forms import generate_citation_forms
from benchmarks.hostile.attacks.citations import attack, format_table


@pytest.mark.parametrize("stubborn", [True, False])
async def test_foreign_citations_are_never_printed_even_when_model_repeats_them(stubborn: bool) -> None:
    outcome = await attack("ranking", stubborn, max_runs=1, seconds=30)
    assert outcome.printed == ()
    assert outcome.complaints >= outcome.answers > 0
    assert bool(outcome.redacted) == stubborn
    assert outcome.lost == 0
    assert format_table([outcome]).endswith(" 0 |")


async def test_attack_detects_foreign_citations_when_checks_are_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_texts, "_CHECKED", (TextRole.LABEL,))
    outcome = await attack("ranking", True, max_runs=1, seconds=30)
    assert len(outcome.printed) > 50


def test_citation_forms_are_numerous_and_unique() -> None:
    forms = list(generate_citation_forms())
    assert len(forms) == len(set(forms)) > 200
