"""The attack on citations: the real gateway and a method from end to end, nothing printed, and a table that says so."""

import pytest

from assayer.citing import answer_texts
from assayer.citing.answer_texts import TextRole
from benchmarks.hostile.attacks.citation_forms import citation_forms
from benchmarks.hostile.attacks.citations import as_table, attack


@pytest.mark.parametrize("stubborn", [True, False])
async def test_nothing_foreign_is_printed_whether_the_model_mends_its_answer_or_not(stubborn: bool) -> None:
    outcome = await attack("ranking", stubborn, most_runs=1, seconds=30)
    assert outcome.printed == ()
    assert outcome.complaints >= outcome.answers > 0
    assert bool(outcome.redacted) == stubborn
    assert outcome.lost == 0
    assert as_table([outcome]).endswith(" 0 |")


async def test_the_attack_finds_what_is_printed_where_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_texts, "_CHECKED", (TextRole.LABEL,))
    outcome = await attack("ranking", True, most_runs=1, seconds=30)
    assert len(outcome.printed) > 50


def test_forms_are_hundreds_and_each_stands_there_once() -> None:
    forms = list(citation_forms())
    assert len(forms) == len(set(forms)) > 200
