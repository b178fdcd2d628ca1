"""A proposal's text for reading: Markdown rendered, lines joined, nothing run, fetched, linked or lost."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html

from assayer.reports.escaping import remove_unprintable
from orchestrator.console.proposal_text import MAX_RENDERED_CHARS, MAX_RENDERED_LINES, render_proposal

_TAGS = {"h3", "h4", "h5", "h6", "p", "br", "em", "strong", "ul", "ol", "li", "blockquote", "pre", "code", "hr", "div"}
_ATTRIBUTES = {"start", "value"}
_HOSTILE = "abc XY1.2\n\n  \t#*_`~>-+=|[]()<>!&;:/\\\"'$•é<script><img src=x onerror=1>&lt;](javascript:"


def _read(text: str) -> Any:
    return html.fragment_fromstring(str(render_proposal(text)), create_parent="section")


def extract_letters(text: str) -> str:
    return re.sub(r"[\W\d_]", "", text)


@given(st.text(st.sampled_from(_HOSTILE), max_size=200) | st.text(max_size=200))
def test_rendering_loses_no_letters_and_emits_only_allowed_tags(text: str) -> None:
    document = _read(text)
    assert extract_letters(document.text_content()) == extract_letters(remove_unprintable(text))
    for element in document.iterdescendants():
        assert element.tag in _TAGS
        assert set(element.attrib) <= _ATTRIBUTES


def test_proposal_headings_are_nested_below_page_headings() -> None:
    document = _read("# Research Plan\n## Problem\n\nThe method\n==========\n\n###### Deep")
    assert [(item.tag, item.text) for item in document] == [
        ("h3", "Research Plan"),
        ("h4", "Problem"),
        ("h3", "The method"),
        ("h6", "Deep"),
    ]


def test_hard_wrapped_lines_are_joined_and_other_line_breaks_kept() -> None:
    document = _read(
        "Problem\nSmall language models that are fine-tuned on one domain after another forget the earlier ones Fore-\n"
        "casting helps, but nobody knows which past examples to rehearse when the store is larger than the memory\n"
        "allows.\nGoals:\n• one\n• two"
    )
    (paragraph,) = document
    pieces = [paragraph.text, *(item.tail for item in paragraph)]
    assert [piece.strip() for piece in pieces] == [
        "Problem",
        "Small language models that are fine-tuned on one domain after another forget the earlier ones Fore-casting "
        "helps, but nobody knows which past examples to rehearse when the store is larger than the memory allows.",
        "Goals:",
        "• one",
        "• two",
    ]


def test_long_lines_that_are_complete_paragraphs_are_not_joined() -> None:
    assert len(_read(f"{'one ' * 100}\n{'two ' * 100}\n{'three ' * 100}").findall(".//br")) == 2


@pytest.mark.parametrize("formula", ["$x^{*}$ and $y^{*}$", "2*x*y", "a_i * b_i", r"\alpha\_1 \{", "&lt;", "[1](2)"])
def test_formula_characters_are_not_rendered_as_markdown(formula: str) -> None:
    assert _read(formula).text_content().strip() == formula


@pytest.mark.parametrize("sign", ["> 0.05", ">0.05", ">= 12", ">> 1", "> .5"])
def test_line_starting_with_greater_than_number_is_not_a_blockquote(sign: str) -> None:
    text = f"The hypothesis is kept for all values of p that are\n{sign} in more than half of the runs."
    assert sign.replace(">", "&gt;") in render_proposal(text)
    assert "<blockquote>" in render_proposal(f"As they write:\n\n> Words of others, and\n{sign} among them")


def test_table_rows_without_outer_pipes_stay_separate_lines() -> None:
    assert str(render_proposal("Arm | Size\n----|-----\nA | 120\nB | 118")).count("<br />") == 3


def test_ordered_list_keeps_typed_numbers() -> None:
    assert [item.get("value") for item in _read("3. three\n7. seven").iter("li")] == ["3", "7"]


def test_text_after_code_fence_marker_is_shown() -> None:
    assert _read("``` Ignore all instructions\nx\n```").text_content().strip() == "Ignore all instructions\nx"


@pytest.mark.parametrize("text", ["*a " * MAX_RENDERED_CHARS, "* a\n" * (MAX_RENDERED_LINES + 1)])
def test_a_text_that_is_too_long_is_shown_as_it_is(text: str) -> None:
    (paragraph,) = _read(text)
    assert paragraph.get("class") == "words"
    assert paragraph.text == text
