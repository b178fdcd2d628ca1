"""Poorer English: what is dropped and swapped, and all that keeps its letters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.bias_test.poorer_english import rewrite_in_poorer_english
from tests.unit.proposal_texts import PROPOSAL


def test_articles_are_dropped_and_agreement_broken_while_other_words_are_kept() -> None:
    poorer = rewrite_in_poorer_english(PROPOSAL)
    assert "Language models state things that is not so, and reader cannot tell." in poorer.text
    assert poorer.text.startswith("# Quote, then abstain\n\n## Problem")
    assert 0.05 < poorer.changed < 0.3
    assert rewrite_in_poorer_english(PROPOSAL) == poorer
    swaps = {"is": "are", "has": "have", "this": "these", "uses": "use", "evidence": "evidences"}
    before, after = (
        [swaps.get(word, word) for word in re.findall(r"\w+", text) if word not in {"a", "an", "the"}]
        for text in (PROPOSAL, poorer.text)
    )
    assert before == after


@pytest.mark.parametrize(
    "unchanged_text",
    [
        "https://evidence.org/this-is-the-page",
        "doi:10.1/this.is",
        "`the answer is a list`",
        "“Attention is all you need”",
        '"Attention is all you need"',
        "*Attention is all you need*",
        "[the paper is here](https://a.example)",
        "$this is a formula$",
        "<the tag is kept>",
        "a_is_the_name",
    ],
)
def test_quotes_links_code_and_formulas_are_unchanged(unchanged_text: str) -> None:
    line = f"It {{}} that {unchanged_text} is good, and {unchanged_text} was the best of the ones that are here."
    assert rewrite_in_poorer_english(line.format("is")).text.count(unchanged_text) == 2


@given(st.text(alphabet='a the is.`"*_[]()<>$\n#|/1x“”', max_size=400))
def test_poorer_english_of_any_text_drops_and_swaps_words_only(text: str) -> None:
    poorer = rewrite_in_poorer_english(text)
    assert poorer.text.count("\n") == text.count("\n")
    assert [edit for edit in poorer.edits if edit.replacement not in {"", "are", "have", "this", "these"}] == []
    assert poorer.slice_edited(0, len(text)) == poorer.text
