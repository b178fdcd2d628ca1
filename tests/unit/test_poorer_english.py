"""Poorer English: what is dropped and swapped, and all that keeps its letters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.audit.poorer_english import in_poorer_english

TEXT = """# Quote, then abstain

## Problem

Language models state things that are not so, and a reader cannot tell. The answer is often wrong where the evidence is
thin, and this has been shown for a range of models.

## Method

We propose to quote first and to abstain where nothing can be quoted. The method uses a second model that has read the
same passages."""
WITH_BACK_MATTER = f"""{TEXT}

## References

- [1] A. Author. Attention is all you need. This is the proceedings of a conference, 2017. https://evidence.org/this.is

## Appendix A

This is an appendix, and it has a table of the prompts."""


def test_poorer_english_drops_articles_and_breaks_agreement_but_keeps_headings_and_every_other_word() -> None:
    poorer = in_poorer_english(TEXT)
    assert "Language models state things that is not so, and reader cannot tell." in poorer.text
    assert poorer.text.startswith("# Quote, then abstain\n\n## Problem")
    assert 0.05 < poorer.changed < 0.3
    assert in_poorer_english(TEXT) == poorer
    swaps = {"is": "are", "has": "have", "this": "these", "uses": "use", "evidence": "evidences"}
    before, after = (
        [swaps.get(word, word) for word in re.findall(r"\w+", text) if word not in {"a", "an", "the"}]
        for text in (TEXT, poorer.text)
    )
    assert before == after


@pytest.mark.parametrize(
    "kept",
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
def test_poorer_english_keeps_what_is_quoted_linked_or_coded(kept: str) -> None:
    line = f"It {{}} that {kept} is good, and {kept} was the best of the ones that are here."
    assert in_poorer_english(line.format("is")).text.count(kept) == 2


def test_poorer_english_keeps_code_blocks_tables_and_all_from_the_references_on() -> None:
    code = "```python\nthe = a is this\nthis is the code\n```"
    table = "| the | is |\n|--|--|\n| a word | are the |"
    text = WITH_BACK_MATTER.replace("## Method", f"{code}\n\n{table}\n\n## Method")
    poorer = in_poorer_english(text).text
    assert code in poorer
    assert table in poorer
    assert poorer.endswith(WITH_BACK_MATTER[WITH_BACK_MATTER.index("## References") :])


def test_letter_is_no_article() -> None:
    assert in_poorer_english("Vitamin a is fine.").text == "Vitamin a are fine."
    assert in_poorer_english("A hepatitis a virus, a virus.").text == "A hepatitis a virus, virus."


@given(st.text(alphabet='a the is.`"*_[]()<>$\n#|/1x“”', max_size=400))
def test_poorer_english_of_any_text_drops_and_swaps_words_only(text: str) -> None:
    poorer = in_poorer_english(text)
    assert poorer.text.count("\n") == text.count("\n")
    assert [one for one in poorer.edits if one.replacement not in {"", "are", "have", "this", "these"}] == []
    assert poorer.within(0, len(text)) == poorer.text


def test_poorer_english_of_a_text_of_signs_alone_ends() -> None:
    for sign in ("`", '"', "*", "[", "<", "$", "“", "a", "a/", "x.", "_a", "a "):
        in_poorer_english(sign * 20_000)
