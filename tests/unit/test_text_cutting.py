"""Cuts at a word's border, and at the limit where a script writes none."""

import pytest

from assayer.text.cutting import keep_beginning, keep_end

CHINESE = "我们预测下一轮训练会覆盖哪些存储的例子并首先复习这些例子" * 3


def test_text_is_cut_at_word_boundary() -> None:
    text = "we predict which stored examples are lost"
    assert keep_beginning(text, 20) == "we predict which"
    assert keep_end(text, 20) == "examples are lost"
    assert keep_beginning(text, 100) == keep_end(text, 100) == text


@pytest.mark.parametrize("text", [CHINESE, f"a {CHINESE}", "x" * 100])
def test_text_without_spaces_is_cut_at_the_limit(text: str) -> None:
    assert keep_beginning(text, 20) == text[:20]


def test_text_without_spaces_is_cut_at_the_limit_from_its_end() -> None:
    assert keep_end(CHINESE, 10) == CHINESE[-10:]


def test_overlong_first_word_yields_empty_text() -> None:
    assert keep_beginning("Appendix of tables", 2) == ""
